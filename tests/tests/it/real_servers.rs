//! Servers that nobody here wrote, as `tests/real_servers/setup.sh` and `tests/real_servers/large/setup.sh` install them,
//! on loopback: each is asked through its plugin with the gateway's REST execute, and each tool of the plugin has to
//! succeed on it.

mod alertmanager;
mod aws;
mod bluesky;
mod calls;
mod docker_registry;
mod ghost;
mod home_assistant;
mod influxdb;
mod mariadb;
mod mediawiki;
mod mlflow;
mod n8n;
mod php;
mod rabbitmq;
mod server;
mod wordpress;
