//! Values that a column keeps as text.
//!
//! JSON documents are [`Json`]. A closed list of words is an enum with strum's words; a row reads it with
//! `#[sqlx(try_from = "&'a str")]`, where `'a` is the lifetime of the row in the derived `FromRow`.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Database, Decode, Encode, Type};

/// A value that its column holds as one JSON document.
#[derive(Clone, Debug, PartialEq)]
pub struct Json<T>(pub T);

impl<DB: Database, T> Type<DB> for Json<T>
where
    String: Type<DB>,
{
    fn type_info() -> DB::TypeInfo {
        <String as Type<DB>>::type_info()
    }

    fn compatible(ty: &DB::TypeInfo) -> bool {
        <String as Type<DB>>::compatible(ty)
    }
}

impl<'r, DB: Database, T: DeserializeOwned> Decode<'r, DB> for Json<T>
where
    &'r str: Decode<'r, DB>,
{
    fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(Self(serde_json::from_str(
            <&str as Decode<'r, DB>>::decode(value)?,
        )?))
    }
}

impl<'q, DB: Database, T: Serialize> Encode<'q, DB> for Json<T>
where
    String: Encode<'q, DB>,
{
    fn encode_by_ref(&self, buf: &mut DB::ArgumentBuffer) -> Result<IsNull, BoxDynError> {
        <String as Encode<'q, DB>>::encode(serde_json::to_string(&self.0)?, buf)
    }
}

impl From<Json<Vec<String>>> for Vec<String> {
    fn from(json: Json<Self>) -> Self {
        json.0
    }
}
