//! Google Calendar: events, free time and sharing, over the Calendar API v3.
//!
//! [`moment`] reads days and times as people write them and counts with them, [`repeat`] writes
//! repetition rules (RFC 5545), [`free`] finds the gaps between what is taken. The tools are in
//! [`calendars`], [`events`] and [`planning`].

#![allow(unreachable_pub, reason = "the modules of a plugin are no library")]

mod across;
mod api;
mod calendars;
mod events;
mod free;
mod moment;
mod options;
mod planning;
mod repeat;
mod special;
mod subscriptions;

toolgate_sdk::plugin! {
    service: "google_calendar",
    title: "Google Calendar",
    description: "Events, free time and calendars in Google Calendar, with repetition and time zones in plain words.",
    homepage: "https://developers.google.com/workspace/calendar/api/v3/reference",
    categories: ["calendar"],
    hosts: ["www.googleapis.com"],
    capabilities: ["egress"],
    auth: [{
        slot: "user",
        title: "Google account",
        type: "oauth2",
        authorize_url: "https://accounts.google.com/o/oauth2/v2/auth",
        token_url: "https://oauth2.googleapis.com/token",
        revoke_url: "https://oauth2.googleapis.com/revoke",
        scopes: ["https://www.googleapis.com/auth/calendar.readonly"],
        authorize_params: { access_type: "offline", prompt: "consent", include_granted_scopes: "true" },
        token_auth: "post",
        placement: { header: "authorization", template: "Bearer {secret}" },
        audience: ["https://www.googleapis.com"],
    }],
    tools: [
        calendars::list_calendars,
        calendars::get_calendar,
        calendars::create_calendar,
        subscriptions::update_calendar,
        subscriptions::remove_calendar,
        subscriptions::subscribe_calendar,
        subscriptions::unsubscribe_calendar,
        subscriptions::update_calendar_display,
        calendars::list_acl,
        calendars::share_calendar,
        subscriptions::remove_calendar_access,
        events::list_events,
        across::find_events,
        across::list_event_changes,
        events::get_event,
        events::list_event_instances,
        planning::create_event,
        planning::quick_add_event,
        options::copy_event,
        planning::update_event,
        options::update_event_options,
        options::add_meeting_link,
        options::attach_file,
        events::respond_to_event,
        events::move_event,
        events::delete_event,
        special::create_out_of_office,
        special::create_focus_time,
        special::set_working_location,
        free::query_free_busy,
        free::find_free_slots,
        across::get_settings,
    ],
}

#[cfg(test)]
mod tests {
    use toolgate_sdk::json;
    use toolgate_sdk::testing::MockHost;

    use super::PLUGIN;

    /// Not an example file: the number of the request is drawn anew for each call.
    #[test]
    fn a_meet_link_is_asked_for_under_a_number_of_its_own() {
        let time = |text: &str| json!({ "dateTime": text, "date": null });
        let body = json!({
            "summary": "Standup",
            "start": time("2026-03-30T09:00:00+02:00"), "end": time("2026-03-30T10:00:00+02:00"),
            "conferenceData": { "createRequest": {
                "requestId": "0001020304050607", "conferenceSolutionKey": { "type": "hangoutsMeet" },
            } },
        });
        let url = "https://www.googleapis.com/calendar/v3/calendars/primary/events";
        let query = json!({ "conferenceDataVersion": "1", "sendUpdates": "all" });
        let request = json!({ "method": "POST", "url": url, "query": query, "body": body });
        let answer =
            json!({ "body": { "id": "e1", "hangoutLink": "https://meet.google.com/abc" } });
        let arguments =
            json!({ "title": "Standup", "start": "2026-03-30T09:00+02:00", "meeting": true });
        let mut host = MockHost::new().exchange(request, answer);
        let made = host
            .call(&PLUGIN, "create_event", &arguments, None)
            .expect("an event");
        assert_eq!(made.value()["meeting"], "https://meet.google.com/abc");
    }

    #[test]
    fn every_example_is_answered_as_written() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
        toolgate_sdk::testing::replay_folder(&PLUGIN, folder);
    }
}
