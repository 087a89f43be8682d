//! Contacts of the mailbox, and the people whom the user works with.

use toolgate_sdk::prelude::*;

use crate::api::{graph, next_page, page};

const FIELDS: &str = "id,displayName,givenName,surname,emailAddresses,companyName,jobTitle,mobilePhone,businessPhones,personalNotes";

fn shown(contact: &Value) -> Value {
    let mut out = pick(
        contact,
        &[
            "id",
            "name=displayName",
            "first_name=givenName",
            "last_name=surname",
            "company=companyName",
            "job_title=jobTitle",
            "mobile=mobilePhone",
            "phones=businessPhones",
            "notes=personalNotes",
        ],
    );
    out["emails"] = contact["emailAddresses"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| one["address"].clone())
        .collect();
    out
}

#[derive(Args)]
pub struct ListContacts {
    /// Words in name, company or mail address.
    #[arg(max_length = 200)]
    query: Option<String>,
    /// Contacts on a page.
    #[arg(min = 1, max = 200, default = 50)]
    limit: u32,
}

/// Lists the contacts of the mailbox, or finds some by name, company or mail address.
#[tool(effect = "read", paginated, scopes = ["Contacts.Read"], keywords = ["address book", "phone number", "find person"],
       example = { "query": "anna" })]
pub fn list_contacts(args: ListContacts, cx: &Context) -> Result<Output, ToolError> {
    let answer = match cx.cursor() {
        Some(cursor) => graph(cx).get(page(cursor)?).fetch()?,
        None => {
            let request = graph(cx).get("/contacts").query("$select", FIELDS);
            let request = match args.query.as_deref().map(str::trim) {
                Some(words) if !words.is_empty() => {
                    let plain: String = words.chars().filter(|c| !"\"\\".contains(*c)).collect();
                    request.query("$search", format!("\"{plain}\""))
                }
                _ => request.query("$orderby", "displayName"),
            };
            request.query("$top", args.limit).fetch()?
        }
    };
    let contacts = answer["value"].as_array().into_iter().flatten();
    let contacts: Vec<Value> = contacts.map(shown).collect();
    Output::page(contacts, next_page(&answer))
}

#[derive(Args)]
pub struct Contact {
    /// First name.
    #[arg(max_length = 255)]
    first_name: Option<String>,
    /// Last name.
    #[arg(max_length = 255)]
    last_name: Option<String>,
    /// Mail addresses, all of them.
    #[arg(max_items = 3)]
    emails: Option<Vec<String>>,
    /// Company.
    company: Option<String>,
    /// Position.
    job_title: Option<String>,
    /// Mobile phone number.
    mobile: Option<String>,
    /// Phone numbers at work, all of them.
    #[arg(max_items = 2)]
    phones: Option<Vec<String>>,
    /// Notes.
    notes: Option<String>,
}

fn written(contact: &Contact) -> Result<Value, ToolError> {
    let mut out = json!({});
    for (key, value) in [
        ("givenName", &contact.first_name),
        ("surname", &contact.last_name),
        ("companyName", &contact.company),
        ("jobTitle", &contact.job_title),
        ("mobilePhone", &contact.mobile),
        ("personalNotes", &contact.notes),
    ] {
        if let Some(value) = value {
            out[key] = json!(value);
        }
    }
    if let Some(emails) = &contact.emails {
        let all = emails
            .iter()
            .map(|email| json!({ "address": email, "name": email }));
        out["emailAddresses"] = all.collect();
    }
    if let Some(phones) = &contact.phones {
        out["businessPhones"] = json!(phones);
    }
    if out == json!({}) {
        return Err(ToolError::invalid("", "say something of the person"));
    }
    Ok(out)
}

/// Adds a person to the contacts.
#[tool(effect = "write", scopes = ["Contacts.ReadWrite"], keywords = ["save contact", "address book", "new person"],
       example = { "first_name": "Anna", "last_name": "Berg", "emails": ["anna@example.com"], "company": "Example" })]
pub fn create_contact(args: Contact, cx: &Context) -> Result<Value, ToolError> {
    let request = graph(cx).post("/contacts");
    Ok(shown(&request.json(&written(&args)?).fetch()?))
}

#[derive(Args)]
pub struct UpdateContact {
    /// Id of the contact; ids come from microsoft_outlook_list_contacts.
    #[arg(min_length = 1)]
    contact: String,
    /// First name.
    #[arg(max_length = 255)]
    first_name: Option<String>,
    /// Last name.
    #[arg(max_length = 255)]
    last_name: Option<String>,
    /// Mail addresses, all of them.
    #[arg(max_items = 3)]
    emails: Option<Vec<String>>,
    /// Company.
    company: Option<String>,
    /// Position.
    job_title: Option<String>,
    /// Mobile phone number.
    mobile: Option<String>,
    /// Phone numbers at work, all of them.
    #[arg(max_items = 2)]
    phones: Option<Vec<String>>,
    /// Notes.
    notes: Option<String>,
}

/// Changes the given fields of a contact; fields left out stay as they are.
#[tool(effect = "write", idempotent, scopes = ["Contacts.ReadWrite"], keywords = ["edit contact", "new phone number"],
       example = { "contact": "AAMkAGI1c", "mobile": "+49 151 23456789" })]
pub fn update_contact(args: UpdateContact, cx: &Context) -> Result<Value, ToolError> {
    let change = Contact {
        first_name: args.first_name,
        last_name: args.last_name,
        emails: args.emails,
        company: args.company,
        job_title: args.job_title,
        mobile: args.mobile,
        phones: args.phones,
        notes: args.notes,
    };
    let request = graph(cx).patch(path!("/contacts/{}", args.contact));
    Ok(shown(&request.json(&written(&change)?).fetch()?))
}

#[derive(Args)]
pub struct OneContact {
    /// Id of the contact; ids come from microsoft_outlook_list_contacts.
    #[arg(min_length = 1)]
    contact: String,
}

/// Deletes a contact; it goes to the deleted items.
#[tool(effect = "destructive", idempotent, scopes = ["Contacts.ReadWrite"], keywords = ["remove person", "address book"],
       example = { "contact": "AAMkAGI1c" })]
pub fn delete_contact(args: OneContact, cx: &Context) -> Result<Value, ToolError> {
    graph(cx)
        .delete(path!("/contacts/{}", args.contact))
        .send()?;
    Ok(json!({ "deleted": args.contact }))
}

#[derive(Args)]
pub struct SearchPeople {
    /// Name or part of it; those whom the user works with most unless given.
    #[arg(max_length = 200)]
    query: Option<String>,
    /// Most people.
    #[arg(min = 1, max = 50, default = 10)]
    limit: u32,
}

/// Finds people by name, colleagues and those written to lately, the most relevant first. Answers with mail addresses.
#[tool(effect = "read", scopes = ["People.Read"], keywords = ["colleague", "who is", "email address of", "directory"],
       example = { "query": "anna" })]
pub fn search_people(args: SearchPeople, cx: &Context) -> Result<Value, ToolError> {
    let mut request = graph(cx).get("/people").query("$top", args.limit);
    if let Some(words) = args
        .query
        .as_deref()
        .map(str::trim)
        .filter(|words| !words.is_empty())
    {
        let plain: String = words.chars().filter(|c| !"\"\\".contains(*c)).collect();
        request = request.query("$search", format!("\"{plain}\""));
    }
    let answer = request.fetch()?;
    let people = answer["value"].as_array().into_iter().flatten();
    let people = people.map(|person| {
        let mut out = pick(
            person,
            &[
                "name=displayName",
                "company=companyName",
                "job_title=jobTitle",
                "department",
            ],
        );
        out["emails"] = person["scoredEmailAddresses"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|one| one["address"].clone())
            .collect();
        out
    });
    Ok(people.collect())
}
