//! `/v1/results`: results that were too large for their answer.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{RestState, openapi};
use toolgate_gateway::Gateway;
use toolgate_gateway::tools::results::{PIECE_BYTES_MAX, PIECE_BYTES_MIN, StoredResult};
use toolgate_http_kit::auth::Authenticated;
use toolgate_http_kit::envelope::{ApiFailure, Success};
use toolgate_http_kit::path::Segments;
use toolgate_http_kit::query::{Number, QueryString};

pub(super) fn routes() -> OpenApiRouter<RestState> {
    openapi::resource("Results", "Results that were too large for their answer.")
        .routes(routes!(read))
}

#[derive(Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
struct ResultQuery {
    /// Where the piece begins, in bytes.
    #[param(inline)]
    offset: Number<0, { 16 << 20 }, 0>,
    /// How many bytes it has at most.
    #[param(inline)]
    limit: Number<{ PIECE_BYTES_MIN }, { PIECE_BYTES_MAX }, 65_536>,
}

/// Read on in a result
///
/// A piece of a result that execute has kept for an hour, as text. Begin at the answer's
/// `bytes_shown` and follow `next_offset` to the end.
#[utoipa::path(
    get,
    path = "/v1/results/{result_id}",
    operation_id = "get_result",
    params(
        ("result_id" = String, Path, description = "The id that execute returned.", example = "res_01KAHZ6M5T9Q4C8W2N7RXJ3VBD"),
        ResultQuery,
    ),
    responses((status = 200, description = "The piece.", body = inline(Success<StoredResult>), example = json!({
        "result_id": "res_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "execution_id": "exe_01KAHZ6M5T9Q4C8W2N7RXJ3VBD",
        "content": "\"title\":\"The mill jams on card 12\"}]",
        "offset": 20000,
        "bytes_total": 20036,
        "next_offset": null,
        "expires_at": "2026-11-20T10:30:00.125Z"
    }))),
)]
async fn read(
    Authenticated(caller): Authenticated,
    State(gateway): State<Arc<Gateway>>,
    Segments([result_id]): Segments<1>,
    QueryString(query): QueryString<ResultQuery>,
) -> Result<Success<StoredResult>, ApiFailure> {
    let piece = gateway.stored_result(&caller, &result_id, query.offset.0, query.limit.0);
    Ok(Success::new(&caller, piece.await?))
}
