"""A JupyterHub for one test: people sign in with any password, the gateway is an OAuth client."""

import os

c = get_config()  # noqa: F821, given by JupyterHub
local = "http://127.0.0.1:"
c.JupyterHub.bind_url = local + os.environ["HUB_PORT"]
c.JupyterHub.hub_bind_url = local + os.environ["HUB_INNER_PORT"]
c.ConfigurableHTTPProxy.api_url = local + os.environ["HUB_PROXY_PORT"]
c.ConfigurableHTTPProxy.command = ["node", os.environ["HUB_PROXY"]]
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.Authenticator.admin_users = {"ada"}
c.JupyterHub.db_url = "sqlite:///:memory:"
c.JupyterHub.services = [
    {
        "name": "toolgate",
        "api_token": os.environ["HUB_SECRET"],
        "oauth_client_id": "service-toolgate",
        "oauth_redirect_uri": os.environ["HUB_CALLBACK"],
        "oauth_no_confirm": False,
        "oauth_client_allowed_scopes": ["list:users", "read:users"],
    }
]
