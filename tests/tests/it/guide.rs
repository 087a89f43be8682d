//! The documentation that a gateway serves to programs: each page as Markdown, and the list of all.

use reqwest::Method;
use toolgate_tests::gateway::{Options, TestGateway};

#[tokio::test(flavor = "multi_thread")]
async fn the_list_for_models_leads_to_every_page_as_markdown() {
    let gateway = TestGateway::start(Options::default()).await;
    let get = async |path: &str| gateway.send(Method::GET, path, None, None).await;
    let lead = get("/llms.txt").await;
    assert_eq!(lead.status, 308);
    assert_eq!(lead.headers["location"], "/docs/guide/llms.txt");

    let list = get("/docs/guide/llms.txt").await;
    assert_eq!(list.status, 200, "{}", list.text);
    assert_eq!(list.headers["content-type"], "text/plain; charset=utf-8");
    let links = list.text.split("](").skip(1);
    let names: Vec<&str> = links.filter_map(|rest| rest.split(')').next()).collect();
    for needed in [
        "first-agent.md",
        "recipes.md",
        "troubleshooting.md",
        "faq.md",
        "coming-from.md",
        "tunnel.md",
        "comparison.md",
        "cli.md",
        "errors.md",
    ] {
        assert!(names.contains(&needed), "{needed}: {names:?}");
    }
    for name in names {
        let page = get(&format!("/docs/guide/{name}")).await;
        assert_eq!(page.status, 200, "{name}");
        assert_eq!(page.headers["content-type"], "text/markdown; charset=utf-8");
        assert!(page.text.starts_with("# "), "{name}: {}", page.text);
    }
    let nothing = get("/docs/guide/nothing.md").await;
    assert_eq!(nothing.status, 404);
}
