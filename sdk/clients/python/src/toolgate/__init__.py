"""Client for toolgate, the tool gateway for software agents.

`Toolgate` and `AsyncToolgate` offer the same operations; `outcomes` has the outcomes of an execution,
`errors` what can go wrong, `types` the shapes of answers. `Toolgate.toolset` gives tools to a model.
"""

from . import dialects, errors, formats, outcomes, types, webhooks
from ._async.client import AsyncToolgate
from ._sync.client import Toolgate
from ._version import VERSION as __version__
from .errors import (
    APIError,
    AuthenticationError,
    Conflict,
    ConnectionFailed,
    InvalidRequest,
    InvalidResponse,
    NotFound,
    PermissionDenied,
    RateLimited,
    RedirectRefused,
    ServerError,
    Timeout,
    ToolgateError,
    WaitTimeout,
    WebhookVerificationError,
)
from .outcomes import ApprovalRequired, AuthRequired, DryRun, Outcome, ProviderError, Success

__all__ = [
    "APIError",
    "ApprovalRequired",
    "AsyncToolgate",
    "AuthRequired",
    "AuthenticationError",
    "Conflict",
    "ConnectionFailed",
    "DryRun",
    "InvalidRequest",
    "InvalidResponse",
    "NotFound",
    "Outcome",
    "PermissionDenied",
    "ProviderError",
    "RateLimited",
    "RedirectRefused",
    "ServerError",
    "Success",
    "Timeout",
    "Toolgate",
    "ToolgateError",
    "WaitTimeout",
    "WebhookVerificationError",
    "__version__",
    "dialects",
    "errors",
    "formats",
    "outcomes",
    "types",
    "webhooks",
]
