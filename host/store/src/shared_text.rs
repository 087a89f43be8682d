//! [`Text`] in the database: SQLite is handed the shared text itself, PostgreSQL a copy.
//!
//! [`SqlText`] wraps it in statements, since the traits of sqlx and the text are of other crates.

use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::{Database, Decode, Encode, Postgres, Sqlite, Type};

use toolgate_core::text::Text;

/// A [`Text`] that is bound to a statement or read from a row.
pub(super) struct SqlText(Text);

impl From<&Text> for SqlText {
    fn from(text: &Text) -> Self {
        Self(text.clone())
    }
}

impl From<SqlText> for Text {
    fn from(shared: SqlText) -> Self {
        shared.0
    }
}

impl<DB: Database> Type<DB> for SqlText
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

impl<'q> Encode<'q, Sqlite> for SqlText {
    fn encode_by_ref(
        &self,
        buffer: &mut <Sqlite as Database>::ArgumentBuffer,
    ) -> Result<IsNull, BoxDynError> {
        <std::sync::Arc<str> as Encode<'q, Sqlite>>::encode(self.0.shared(), buffer)
    }
}

impl<'q> Encode<'q, Postgres> for SqlText {
    fn encode_by_ref(
        &self,
        buffer: &mut <Postgres as Database>::ArgumentBuffer,
    ) -> Result<IsNull, BoxDynError> {
        <&str as Encode<'_, Postgres>>::encode_by_ref(&self.0.as_str(), buffer)
    }
}

impl<'r, DB: Database> Decode<'r, DB> for SqlText
where
    &'r str: Decode<'r, DB>,
{
    fn decode(value: DB::ValueRef<'r>) -> Result<Self, BoxDynError> {
        <&'r str as Decode<'r, DB>>::decode(value).map(|text| Self(Text::from(text)))
    }
}

/// Declares how a row is read: [`Text`] columns by [`SqlText`], the others as they are.
macro_rules! read_rows {
    ($row:ident { texts: $($text:ident),*; optional: $($optional:ident),*; others: $($other:ident),*; absent: $($absent:ident),* $(,)? }) => {
        impl<'r, R> sqlx::FromRow<'r, R> for $row
        where
            R: sqlx::Row,
            &'r str: sqlx::Decode<'r, R::Database>,
            &'static str: sqlx::ColumnIndex<R>,
            str: sqlx::Type<R::Database>,
            String: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
            i64: sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
        {
            fn from_row(row: &'r R) -> Result<Self, sqlx::Error> {
                use $crate::shared_text::SqlText;
                Ok(Self {
                    $($text: row.try_get::<SqlText, _>(stringify!($text))?.into(),)*
                    $($optional: row.try_get::<Option<SqlText>, _>(stringify!($optional))?.map(Into::into),)*
                    $($other: row.try_get(stringify!($other))?,)*
                    $($absent: Default::default(),)*
                })
            }
        }
    };
}
pub(super) use read_rows;
