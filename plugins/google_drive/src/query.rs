//! What a search of files takes, written in Drive's query language.

use toolgate_sdk::prelude::*;

use crate::api::id_of;

#[derive(Args)]
pub enum Kind {
    Folder,
    Document,
    Spreadsheet,
    Presentation,
    Form,
    Pdf,
    Image,
    Video,
    Audio,
}

#[derive(Args)]
pub enum FileOrder {
    Created,
    Modified,
}

impl FileOrder {
    pub fn key(&self) -> &'static str {
        match self {
            Self::Created => "createdTime desc",
            Self::Modified => "modifiedTime desc",
        }
    }
}

#[derive(Args)]
pub struct SearchFiles {
    /// Words in the name, all of them; `"several words"` in quotes stay together.
    pub name: Option<String>,
    /// Words in the content or name, all of them; phrases in quotes.
    pub text: Option<String>,
    /// What it is, whatever program it is for.
    pub kind: Option<Kind>,
    /// Only what lies in this folder: its id or address, `root` for the top of My Drive.
    pub folder: Option<String>,
    /// Mail address of the owner, `me` for the account itself.
    pub owner: Option<String>,
    /// Changed on this day or later, or since a moment.
    #[arg(examples = ["2026-03-01"])]
    pub modified_after: Option<String>,
    /// Changed before this day or moment.
    #[arg(examples = ["2026-04-01"])]
    pub modified_before: Option<String>,
    /// Only what others shared with the account.
    #[arg(default = false)]
    pub shared_with_me: bool,
    /// Only what has a star.
    #[arg(default = false)]
    pub starred: bool,
    /// Look in the trash instead.
    #[arg(default = false)]
    pub trashed: bool,
    /// Id of the shared drive to look in; everything that the account sees unless given.
    pub shared_drive: Option<String>,
    /// By which time to sort, newest first; by the last change unless given. Not with `text`.
    pub order: Option<FileOrder>,
    /// Files on a page.
    #[arg(min = 1, max = 200, default = 30)]
    pub limit: u32,
}

const GOOGLE: &str = "application/vnd.google-apps.";

/// A text between quotes.
fn text(value: &str) -> String {
    format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// The words of a name; what stands between quotes stays together.
fn words(name: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (index, part) in name.split('"').enumerate() {
        if index % 2 == 1 {
            out.push(part.trim().to_owned());
        } else {
            out.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    out.retain(|word| !word.is_empty());
    out
}

fn kind(kind: &Kind) -> String {
    let is = |media_type: &str| format!("mimeType = {}", text(media_type));
    let any = |all: &[&str]| {
        let all: Vec<String> = all.iter().map(|one| is(one)).collect();
        format!("({})", all.join(" or "))
    };
    let google = |name: &str| format!("{GOOGLE}{name}");
    match kind {
        Kind::Folder => is(&google("folder")),
        Kind::Document => any(&[
            &google("document"),
            "application/msword",
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ]),
        Kind::Spreadsheet => any(&[
            &google("spreadsheet"),
            "application/vnd.ms-excel",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "text/csv",
        ]),
        Kind::Presentation => any(&[
            &google("presentation"),
            "application/vnd.ms-powerpoint",
            "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        ]),
        Kind::Form => is(&google("form")),
        Kind::Pdf => is("application/pdf"),
        Kind::Image => "mimeType contains 'image/'".to_owned(),
        Kind::Video => "mimeType contains 'video/'".to_owned(),
        Kind::Audio => "mimeType contains 'audio/'".to_owned(),
    }
}

/// `2026-03-31` or a moment, as a query takes it.
fn moment(value: &str) -> String {
    if value.len() == 10 {
        text(&format!("{value}T00:00:00"))
    } else {
        text(value)
    }
}

pub fn from_arguments(args: &SearchFiles) -> Result<String, ToolError> {
    let mut all = Vec::new();
    for word in args.name.as_deref().map(words).unwrap_or_default() {
        all.push(format!("name contains {}", text(&word)));
    }
    for word in args.text.as_deref().map(words).unwrap_or_default() {
        // A phrase keeps its quotes within the text.
        let exact = word.contains(' ');
        let word = if exact { format!("\"{word}\"") } else { word };
        all.push(format!("fullText contains {}", text(&word)));
    }
    if let Some(wanted) = &args.kind {
        all.push(kind(wanted));
    }
    if let Some(folder) = &args.folder {
        all.push(format!("{} in parents", text(&id_of(folder, "folder")?)));
    }
    if let Some(owner) = &args.owner {
        all.push(format!("{} in owners", text(owner)));
    }
    if let Some(day) = &args.modified_after {
        all.push(format!("modifiedTime >= {}", moment(day)));
    }
    if let Some(day) = &args.modified_before {
        all.push(format!("modifiedTime < {}", moment(day)));
    }
    if args.shared_with_me {
        all.push("sharedWithMe = true".to_owned());
    }
    if args.starred {
        all.push("starred = true".to_owned());
    }
    all.push(format!("trashed = {}", args.trashed));
    Ok(all.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::{text, words};

    #[test]
    fn what_people_type_cannot_leave_its_quotes() {
        assert_eq!(text("Anna's \\ plan"), "'Anna\\'s \\\\ plan'");
        assert_eq!(
            words("budget \"final version\" 2026"),
            ["budget", "final version", "2026"]
        );
        assert_eq!(words(" \" "), Vec::<String>::new());
    }
}
