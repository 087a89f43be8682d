use super::{CallNames, VerbPlace, changing_verb, only_asks, removing_verb, runs_something};

fn found(id: &str, path: &str, summary: &str) -> Option<(String, VerbPlace)> {
    let call = CallNames {
        id: Some(id).filter(|id| !id.is_empty()),
        path,
        summary: Some(summary).filter(|text| !text.is_empty()),
        ..CallNames::default()
    };
    changing_verb(&call).map(|found| (found.verb, found.place))
}

#[test]
fn a_verb_that_changes_is_found_wherever_a_verb_can_be() {
    use VerbPlace::{Name, Path, Query, Summary};
    for (id, path, summary, verb, place) in [
        ("logout", "/logout", "logout", "logout", Name),
        ("deleteRecord", "/delete", "deleteRecord", "delete", Name),
        ("unsubscribe", "/unsubscribe", "", "unsubscribe", Name),
        // Paths.
        ("", "/v1/session/terminate", "", "terminate", Path),
        ("getSession", "/v1/session/terminate", "", "terminate", Path),
        ("", "/api/users.delete", "", "delete", Path),
        ("", "/v1/jobs/{id}:cancel", "", "cancel", Path),
        ("", "/archive/delete/network", "", "delete", Path),
        (
            "getThing",
            "/users/{id}/remove/{key}",
            "Get a thing",
            "remove",
            Path,
        ),
        ("", "/cache/flush/all", "", "flush", Path),
        ("", "/orders/{id}/transfer", "", "transfer", Path),
        ("", "/delete-user/{id}", "", "delete", Path),
        ("", "/log-out", "", "logout", Path),
        ("", "/deleteuser", "", "delete", Path),
        ("", "/setPresence", "", "set", Path),
        // Queries.
        ("", "/index.php?action=delete", "", "delete", Query),
        ("getPage", "/api?cmd=reboot", "Get a page", "reboot", Query),
        ("", "/#Action=AddPermission", "", "add", Query),
        // Ids.
        ("getAndLock", "/things/{id}", "", "lock", Name),
        ("get_or_create_cart", "/cart", "", "create", Name),
        ("findOneAndUpdate", "/x", "Find one", "update", Name),
        ("searchAndReplace", "/x", "Search", "replace", Name),
        ("users.delete", "/x", "", "delete", Name),
        ("Users_Delete", "/x", "Get users", "delete", Name),
        ("session_terminate_get", "/x", "", "terminate", Name),
        ("users_delete_by_id", "/x", "", "delete", Name),
        ("getUserLogout", "/x", "", "logout", Name),
        ("deleteUserUsingGET", "/x", "", "delete", Name),
        ("GET_BatchDeleteAttributes", "/x", "", "delete", Name),
        ("GET_AttachVolume", "/x", "", "attach", Name),
        ("turnOnLight", "/light", "", "toggle", Name),
        (
            "check_out",
            "/items/{id}/checkout",
            "Check out a file",
            "checkout",
            Summary,
        ),
        // Summaries.
        ("", "/stop/{scan}", "Stop a scan", "stop", Summary),
        (
            "getLibrary",
            "/library",
            "Starts a library scan.",
            "start",
            Summary,
        ),
        ("getCart", "/cart", "Deletes the cart", "delete", Summary),
        (
            "run",
            "/x/{id}",
            "Get the mails and mark them as read",
            "mark",
            Summary,
        ),
        (
            "getUser",
            "/user",
            "Permanently delete a user",
            "delete",
            Summary,
        ),
    ] {
        let expected = Some((verb.to_owned(), place));
        let seen = found(id, path, summary);
        assert_eq!(seen, expected, "`{id}` `{path}` `{summary}`");
    }
}

#[test]
fn nouns_participles_and_verbs_that_read_change_nothing() {
    for (id, path, summary) in [
        (
            "get_send_limits",
            "/send_limits",
            "Get the limits of sending",
        ),
        ("", "/send_limits", ""),
        ("sendLimits", "/send-limits", "Send limits"),
        ("list_deleted_items", "/items/deleted", "List deleted items"),
        ("getCreated", "/created", "Get created"),
        ("", "/updates", "Updates of the system"),
        ("listUpdates", "/updates", "Lists updates"),
        ("orders_list", "/orders", "Orders"),
        ("order_get", "/order/{id}", "Order details"),
        (
            "getTermStoreSet",
            "/termStore/sets/{set}",
            "Get set from termStore",
        ),
        (
            "pulls/check-if-merged",
            "/pulls/{n}/merge",
            "Check if a pull request was merged",
        ),
        ("getLock", "/envelopes/{id}/lock", "Gets lock information"),
        ("getImport", "/apps/{id}/jobs/import", "Get the import job"),
        ("getAddOns", "/add-ons", "List add-ons"),
        ("runReport", "/reports/{id}/run", "Runs the report"),
        ("", "/block", "Latest block"),
        ("build_info", "/build-info", "Build info"),
        (
            "getPermissions",
            "/channels",
            "Get the channels to which a user can add or remove a video",
        ),
        (
            "list_followers",
            "/users/{id}/followers",
            "Followers of a user",
        ),
        ("creator", "/creator", "The creator"),
        ("createdBy", "/users?createdBy={id}", ""),
        ("", "/insights?fields=date_start,date_stop", ""),
        ("", "/insights?sort=date_stop", ""),
        ("getIssue", "/issues?sort=created", "Get an issue"),
        ("get_delete_markers", "/markers", "List delete markers"),
    ] {
        let seen = found(id, path, summary);
        assert_eq!(seen, None, "`{id}` `{path}` `{summary}`");
    }
}

#[test]
fn a_name_asks_if_each_of_its_verbs_does() {
    for asks in [
        "search_users",
        "getItems",
        "queryRecords",
        "count",
        "list_orders",
    ] {
        assert!(only_asks(asks).is_some(), "{asks}");
    }
    for changes in [
        "searchAndReplace",
        "getOrCreate",
        "find_or_add_contact",
        "fetch_and_lock",
        "findOneAndDelete",
        "check_out",
        "check_in",
        "get_update_or_insert",
        "list_then_purge",
        "previewAndSend",
        "users_search",
        "create_list",
        "",
    ] {
        assert_eq!(only_asks(changes), None, "{changes}");
    }
}

#[test]
fn removing_is_found_in_any_name() {
    assert_eq!(removing_verb("usersRemove").as_deref(), Some("remove"));
    assert_eq!(removing_verb("purge_cache").as_deref(), Some("purge"));
    assert_eq!(removing_verb("remover_list"), None);
}

#[test]
fn a_name_that_runs_something_begins_with_it() {
    for name in [
        "run_sql",
        "executeStatement",
        "query",
        "sql",
        "batch_execute",
    ] {
        assert!(runs_something(name), "{name}");
    }
    for name in ["create_query", "search", "get_runs", ""] {
        assert!(!runs_something(name), "{name}");
    }
}
