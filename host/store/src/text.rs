//! Values that a column keeps as text: JSON documents and closed lists of words.

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

/// A column holds a word that this program does not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is no {list}")]
pub struct UnknownWord {
    pub list: &'static str,
    pub word: String,
}

/// A closed list of words: an enum that is stored, printed and serialised as its word.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$case_meta:meta])* $case:ident = $word:tt),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$case_meta])* #[serde(rename = $word)] $case),+ }

        impl $name {
            pub const ALL: &'static [Self] = &[$(Self::$case),+];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$case => $word),+ }
            }

            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|case| case.as_str() == word)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl TryFrom<String> for $name {
            type Error = $crate::UnknownWord;

            fn try_from(word: String) -> Result<Self, Self::Error> {
                Self::parse(&word).ok_or($crate::UnknownWord { list: stringify!($name), word })
            }
        }
    };
}
pub(super) use words;
