-- A client that is known by the address of its document is looked for by that address.
CREATE INDEX oauth_apps_of_client ON oauth_apps (client_id);
