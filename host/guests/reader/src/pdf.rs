//! PDF: the text of each page, by lopdf.

use lopdf::Document;

use crate::{TEXT_CHARS_MAX, push};

/// Pages of one document.
const PAGES_MAX: usize = 2_000;

/// The text of every page. A page that cannot be read is empty; a file without any readable page,
/// or one that is encrypted, is refused.
pub(crate) fn pages(bytes: &[u8]) -> Result<Vec<String>, String> {
    let document =
        Document::load_mem(bytes).map_err(|error| format!("the PDF cannot be read: {error}"))?;
    if document.is_encrypted() {
        return Err("the PDF is encrypted; add it without a password".to_owned());
    }
    let numbers: Vec<u32> = document.get_pages().into_keys().collect();
    if numbers.is_empty() {
        return Err("the PDF has no pages".to_owned());
    }
    if numbers.len() > PAGES_MAX {
        return Err(format!("the PDF has more than {PAGES_MAX} pages"));
    }
    let mut left = TEXT_CHARS_MAX;
    let mut pages = Vec::with_capacity(numbers.len());
    for number in numbers {
        let mut page = String::new();
        let text = document.extract_text(&[number]).unwrap_or_default();
        if !push(&mut page, &mut left, text.trim()) {
            return Err(format!(
                "the PDF holds more than {TEXT_CHARS_MAX} characters"
            ));
        }
        pages.push(page);
    }
    if pages.iter().all(String::is_empty) {
        return Err(
            "the PDF holds no text; pictures of text have to be recognised before they are added"
                .to_owned(),
        );
    }
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of these objects, numbered from 1; the first is the catalog.
    fn file(objects: &[String]) -> Vec<u8> {
        let mut file = "%PDF-1.7\n".to_owned();
        let mut places = Vec::new();
        for (n, object) in objects.iter().enumerate() {
            places.push(file.len());
            file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", n + 1));
        }
        let (table, size) = (file.len(), objects.len() + 1);
        file.push_str(&format!("xref\n0 {size}\n0000000000 65535 f \n"));
        for place in places {
            file.push_str(&format!("{place:010} 00000 n \n"));
        }
        file.push_str(&format!(
            "trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"
        ));
        file.into_bytes()
    }

    /// One page for each content, which is what a content stream holds.
    fn with(contents: &[&str]) -> Vec<u8> {
        let kids: Vec<String> = (0..contents.len())
            .map(|n| format!("{} 0 R", 4 + 2 * n))
            .collect();
        let mut objects = vec![
            "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
            format!(
                "<< /Type /Pages /Count {} /Kids [{}] >>",
                contents.len(),
                kids.join(" ")
            ),
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
                .to_owned(),
        ];
        for (n, content) in contents.iter().enumerate() {
            objects.push(format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {} 0 R \
                 /Resources << /Font << /F1 3 0 R >> >> >>",
                5 + 2 * n
            ));
            objects.push(format!(
                "<< /Length {} >>\nstream\n{content}\nendstream",
                content.len()
            ));
        }
        file(&objects)
    }

    fn line(text: &str) -> String {
        format!("BT /F1 12 Tf 72 720 Td ({text}) Tj ET")
    }

    #[test]
    fn every_page_has_its_text() {
        let (one, three) = (
            line("The harbour opens at six."),
            line("Closed \\(always\\)."),
        );
        let pages = pages(&with(&[&one, "", &three])).unwrap();
        assert_eq!(pages, ["The harbour opens at six.", "", "Closed (always)."]);
    }

    #[test]
    fn a_file_that_is_not_a_readable_pdf_is_refused_with_a_reason() {
        let sound = with(&[&line("text")]);
        let encrypted = String::from_utf8(sound.clone()).unwrap().replace(
            "/Root 1 0 R",
            "/Root 1 0 R /ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 \
             /O <0000000000000000000000000000000000000000000000000000000000000000> \
             /U <0000000000000000000000000000000000000000000000000000000000000000> >>",
        );
        for (what, bytes) in [
            ("nothing", Vec::new()),
            ("text", b"no PDF at all".to_vec()),
            ("a head alone", b"%PDF-1.7\n".to_vec()),
            ("half a file", sound[..sound.len() / 2].to_vec()),
            ("a password", encrypted.into_bytes()),
            ("no pages", with(&[])),
            ("pages without text", with(&["", ""])),
            (
                "a catalog that leads nowhere",
                file(&["<< /Type /Catalog /Pages 9 0 R >>".to_owned()]),
            ),
            (
                "pages that hold themselves",
                file(&[
                    "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
                    "<< /Type /Pages /Count 1 /Kids [2 0 R] >>".to_owned(),
                ]),
            ),
            ("more pages than are read", with(&vec![""; PAGES_MAX + 1])),
        ] {
            let refused = pages(&bytes).expect_err(what);
            assert!(refused.contains("PDF"), "{what}: {refused}");
        }
    }

    #[test]
    fn a_page_that_is_broken_costs_the_others_nothing() {
        let good = line("Still here.");
        let pages = pages(&with(&["BT /F9 ( <<<", &good])).unwrap();
        assert_eq!(pages.last().map(String::as_str), Some("Still here."));
    }

    #[test]
    fn a_flood_of_text_is_refused() {
        let flood = line(&"x".repeat(TEXT_CHARS_MAX + 1));
        let refused = pages(&with(&[&flood])).unwrap_err();
        assert!(refused.contains("more than"), "{refused}");
    }
}
