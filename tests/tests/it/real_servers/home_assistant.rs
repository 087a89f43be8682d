//! Home Assistant with the entities of its demo.

use serde_json::{Value, json};
use tokio::process::Command;
use toolgate_core::clock::{Clock, rfc3339};
use toolgate_tests::gateway::{Answer, client};
use toolgate_tests::process::wait;
use url::form_urlencoded;

use super::calls::{ServiceGateway, refused, run};
use super::server::{RealServer, installed};

/// A home with a script, a scene and an automation beside the demo's entities.
async fn start() -> RealServer {
    let mut server = RealServer::new();
    let configuration = format!(
        "homeassistant: {{ name: Home, unit_system: metric, time_zone: UTC, country: DE }}\n\
         http: {{ server_host: 127.0.0.1, server_port: {} }}\n\
         api:\nconversation:\nrecorder: {{ commit_interval: 0 }}\nhistory:\nlogbook:\ndemo:\n\
         script: {{ good_night: {{ sequence: [{{ service: light.turn_off, \
         target: {{ entity_id: light.kitchen_lights }} }}] }} }}\n\
         scene: [{{ name: Movie night, entities: {{ light.ceiling_lights: {{ state: 'on', brightness: 40 }} }} }}]\n\
         automation: [{{ id: plants, alias: Water plants, trigger: [{{ platform: event, event_type: plants_are_dry }}], \
         action: [{{ service: switch.turn_on, target: {{ entity_id: switch.ac }} }}] }}]\n",
        server.port()
    );
    let configuration = server.write("home/configuration.yaml", configuration);
    let mut command = Command::new(installed().join("home_assistant/bin/hass"));
    command
        .arg("--config")
        .arg(configuration.parent().unwrap())
        // It is offline, and has what it needs.
        .arg("--skip-pip");
    server.spawn(&mut command);
    server.answers("/api/onboarding").await;
    server
}

/// Makes the first user and answers an access token.
async fn token(server: &RealServer) -> String {
    let (http, client_id) = (client(), format!("{}/", server.url));
    let user = json!({
        "client_id": client_id, "name": "Ada", "username": "ada", "password": "0123456789abcdef", "language": "en",
    });
    let made = http.post(format!("{}/api/onboarding/users", server.url));
    let made = Answer::read(made.body(user.to_string()).send().await.unwrap()).await;
    let code = made.json()["auth_code"].take();
    let form = form_urlencoded::Serializer::new(String::new())
        .append_pair("grant_type", "authorization_code")
        .append_pair("code", code.as_str().unwrap())
        .append_pair("client_id", &client_id)
        .finish();
    let given = http
        .post(format!("{}/auth/token", server.url))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form);
    let given = Answer::read(given.send().await.unwrap()).await;
    given.json()["access_token"].as_str().unwrap().to_owned()
}

/// The time so many seconds from now.
fn time_of(seconds: i64) -> String {
    rfc3339(Clock::system().now_ms() + seconds * 1000)
}

/// The tools that change entities, with the state that follows.
async fn controls_the_home(gateway: &ServiceGateway) {
    // The server answers before all of its platforms are there.
    wait("the entities of the home", async || {
        let states = run(gateway, "home_assistant_list_states", json!({})).await;
        let states = states.to_string();
        let entities = [
            "light.kitchen_lights",
            "light.ceiling_lights",
            "climate.heatpump",
            "switch.ac",
            "media_player.bedroom",
            "cover.living_room_window",
        ];
        entities.iter().all(|entity| states.contains(entity))
    })
    .await;
    let kitchen = json!({ "entity_id": ["light.kitchen_lights"] });
    let evening = json!({ "entity_id": ["light.kitchen_lights"], "brightness_pct": 40, "color_temp_kelvin": 2700 });
    let warm =
        json!({ "entity_id": ["climate.heatpump"], "temperature": 22.5, "hvac_mode": "heat" });
    let half = json!({ "entity_id": ["cover.living_room_window"], "position": 50 });
    let scene = json!({ "entity_id": ["scene.movie_night"] });
    let script = json!({ "entity_id": ["script.good_night"] });
    let plants = json!({ "entity_id": ["automation.water_plants"] });
    let quiet = json!({
        "domain": "media_player", "service": "volume_set",
        "body": { "entity_id": ["media_player.bedroom"], "volume_level": 0.25 },
    });
    for (tool, arguments, entity, pointer, expected) in [
        (
            "turn_off",
            kitchen.clone(),
            "light.kitchen_lights",
            "/state",
            json!("off"),
        ),
        (
            "turn_on",
            kitchen.clone(),
            "light.kitchen_lights",
            "/state",
            json!("on"),
        ),
        (
            "toggle",
            kitchen,
            "light.kitchen_lights",
            "/state",
            json!("off"),
        ),
        (
            "set_light",
            evening,
            "light.kitchen_lights",
            "/attributes/brightness",
            json!(102),
        ),
        (
            "set_temperature",
            warm,
            "climate.heatpump",
            "/attributes/temperature",
            json!(22.5),
        ),
        (
            "activate_scene",
            scene,
            "light.ceiling_lights",
            "/attributes/brightness",
            json!(40),
        ),
        (
            "run_script",
            script,
            "light.kitchen_lights",
            "/state",
            json!("off"),
        ),
        (
            "trigger_automation",
            plants,
            "switch.ac",
            "/state",
            json!("on"),
        ),
        (
            "call_service",
            quiet,
            "media_player.bedroom",
            "/attributes/volume_level",
            json!(0.25),
        ),
        (
            "set_cover_position",
            half,
            "cover.living_room_window",
            "/attributes/current_position",
            json!(50),
        ),
    ] {
        run(gateway, &format!("home_assistant_{tool}"), arguments).await;
        let entity = json!({ "entity_id": entity });
        wait(&format!("{tool} to have an effect"), async || {
            let now = run(gateway, "home_assistant_get_state", entity.clone()).await;
            now.pointer(pointer) == Some(&expected)
        })
        .await;
    }
}

async fn reads_the_home(gateway: &ServiceGateway) {
    let states = run(gateway, "home_assistant_list_states", json!({})).await;
    assert!(
        states.to_string().contains("light.kitchen_lights"),
        "{states}"
    );
    let config = run(gateway, "home_assistant_get_config", json!({})).await;
    assert_eq!(config["location_name"], "Home", "{config}");
    let checked = run(gateway, "home_assistant_check_configuration", json!({})).await;
    assert_eq!(checked["result"], "valid", "{checked}");
    let hour_ago = time_of(-3600);
    let history = json!({ "start_time": hour_ago, "filter_entity_id": ["light.kitchen_lights"] });
    wait("the history to be written", async || {
        let history = run(gateway, "home_assistant_get_history", history.clone()).await;
        history[0]
            .as_array()
            .is_some_and(|changes| changes.len() > 2)
    })
    .await;
    let day = json!({ "start_time": hour_ago, "entity": "light.kitchen_lights" });
    let entries = run(gateway, "home_assistant_list_logbook", day).await;
    assert_eq!(entries[0]["entity_id"], "light.kitchen_lights", "{entries}");
    let calendars = run(gateway, "home_assistant_list_calendars", json!({})).await;
    assert_eq!(
        calendars[0]["entity_id"], "calendar.calendar_1",
        "{calendars}"
    );
    let span =
        json!({ "entity_id": "calendar.calendar_1", "start": hour_ago, "end": time_of(86_400) });
    let events = run(gateway, "home_assistant_list_calendar_events", span).await;
    assert_eq!(events[0]["summary"], "Future Event", "{events}");
    let camera = json!({ "entity_id": "camera.demo_camera" });
    let picture = run(gateway, "home_assistant_get_camera_image", camera).await;
    assert!(
        picture["media_type"].to_string().contains("image/"),
        "{picture}"
    );
    let template = json!({ "template": "{{ states('switch.ac') }} and {{ 1 + 1 }}" });
    let rendered = run(gateway, "home_assistant_render_template", template).await;
    assert_eq!(rendered, "on and 2");
}

/// Asks for a forecast, and answers why that cannot succeed on an old Home Assistant.
async fn answers_with_data(gateway: &ServiceGateway) -> &'static [(&'static str, &'static str)] {
    let tool = "home_assistant_call_service_for_response";
    let forecast = json!({
        "domain": "weather", "service": "get_forecasts",
        "body": { "entity_id": ["weather.demo_weather_south"], "type": "daily" },
    });
    let config = run(gateway, "home_assistant_get_config", json!({})).await;
    if config["version"].to_string().contains("2024.3.") {
        let said = refused(gateway, tool, forecast).await;
        assert!(said.contains("Server got itself in"), "{said}");
        return &[(
            "home_assistant_call_service_for_response",
            "the newest Home Assistant for Python 3.11 does not know `return_response`",
        )];
    }
    let forecast = run(gateway, tool, forecast).await;
    assert!(forecast.to_string().contains("templow"), "{forecast}");
    &[]
}

/// The list of services is longer than an agent may want; the rest of it is behind a handle.
async fn reads_a_long_list(gateway: &ServiceGateway) {
    let tool = "home_assistant_list_services";
    let whole = run(gateway, tool, json!({})).await.to_string();
    assert!(whole.len() > 25_000, "{} bytes", whole.len());
    let body = json!({ "arguments": {}, "max_result_chars": 20_000 });
    let path = format!("/v1/tools/{tool}/execute");
    let cut = gateway.post(&path, &body).await.data();
    let (shown, id) = (&cut["result"], &cut["truncated"]["result_id"]);
    let (shown, id) = (shown.as_str().unwrap(), id.as_str().unwrap());
    let path = format!(
        "/v1/results/{id}?offset={}&limit={}",
        shown.len(),
        whole.len()
    );
    let rest = gateway.get(&path).await.data();
    let all = format!("{shown}{}", rest["content"].as_str().unwrap());
    let all: Value = serde_json::from_str(&all).unwrap();
    let text = all.to_string();
    assert!(text == whole, "the pieces are another list");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_entities_of_a_real_home_assistant_are_read_and_changed() {
    let server = start().await;
    let token = token(&server).await;
    let gateway = ServiceGateway::at_address("home_assistant", &server, "").await;
    let (status, text) = gateway.connect(&[("f_secret", "another-token")]).await;
    assert_ne!(status, 200, "{text}");
    let (status, text) = gateway.connect(&[("f_secret", &token)]).await;
    assert_eq!(status, 200, "{text}");
    controls_the_home(&gateway).await;
    reads_the_home(&gateway).await;

    let reasons = answers_with_data(&gateway).await;
    reads_a_long_list(&gateway).await;
    let sentence = json!({ "text": "turn on the bed light", "language": "en" });
    let said = run(&gateway, "home_assistant_process_sentence", sentence).await;
    assert_eq!(said["response"]["response_type"], "action_done", "{said}");
    let event = json!({ "event_type": "guest_arrived", "body": { "name": "Anna" } });
    let fired = run(&gateway, "home_assistant_fire_event", event).await;
    assert!(fired.to_string().contains("guest_arrived"), "{fired}");
    let missing = json!({ "entity_id": "light.cellar" });
    let said = refused(&gateway, "home_assistant_get_state", missing).await;
    assert!(said.contains("Entity not found"), "{said}");
    gateway.every_tool_succeeded(reasons).await;
}
