//! [`Text`] in the database: SQLite is handed the shared text itself, PostgreSQL a copy.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Database, Decode, Encode, Postgres, Sqlite, Type};

use crate::text::Text;

impl<DB: Database> Type<DB> for Text
where
    str: Type<DB>,
{
    fn type_info() -> DB::TypeInfo {
        <str as Type<DB>>::type_info()
    }

    fn compatible(kind: &DB::TypeInfo) -> bool {
        <str as Type<DB>>::compatible(kind)
    }
}

impl<'q> Encode<'q, Sqlite> for Text {
    fn encode_by_ref(
        &self,
        buffer: &mut <Sqlite as Database>::ArgumentBuffer,
    ) -> Result<IsNull, BoxDynError> {
        <std::sync::Arc<str> as Encode<'q, Sqlite>>::encode(self.shared(), buffer)
    }
}

impl<'q> Encode<'q, Postgres> for Text {
    fn encode_by_ref(
        &self,
        buffer: &mut <Postgres as Database>::ArgumentBuffer,
    ) -> Result<IsNull, BoxDynError> {
        <&str as Encode<'_, Postgres>>::encode_by_ref(&self.as_str(), buffer)
    }
}

impl<'r, DB: Database> Decode<'r, DB> for Text
where
    &'r str: Decode<'r, DB>,
{
    fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
        <&'r str as Decode<'r, DB>>::decode(value).map(Self::from)
    }
}
