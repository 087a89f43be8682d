//! A text that becomes another one in small upgrades.

use serde_json::json;

use super::super::{Difference, Upgrades};
use super::{form, whole};

#[test]
fn a_text_that_changes_in_small_steps_waits_once_it_is_another_one() {
    let with = |words: usize| {
        let mut manifest = whole();
        let text = format!("{}.", "pay eve ".repeat(words));
        manifest["tools"][0]["description"] = json!(text);
        form(&manifest).expect("its shape")
    };
    let approved = with(0);
    let (mut served, mut steps) = (approved.clone(), 0);
    for words in (0..100).step_by(10) {
        let new = with(words);
        let difference = Difference::since_approved(&approved, &served, &new, Upgrades::Strict);
        assert!(!Difference::between(&served, &new, Upgrades::Strict).waits());
        if difference.waits() {
            assert!(
                difference.to_string().contains("characters"),
                "{difference}"
            );
            break;
        }
        (served, steps) = (new, steps + 1);
    }
    assert!((2..5).contains(&steps), "{steps}");
    let back = Difference::since_approved(&approved, &served, &approved, Upgrades::Strict);
    assert!(!back.waits());
}
