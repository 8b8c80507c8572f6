//! The fields of a struct, as its own `Deserialize` implementation requests them.
//!
//! So the parameters of a method, with their kinds, follow from its struct and are never listed separately.

use std::fmt;

use serde::de::value::{Error, MapDeserializer, SeqDeserializer};
use serde::de::{
    Deserialize, DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;

/// A parameter of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Whether the parameter is required.
    pub required: bool,
}

/// The kind of a parameter's value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// True or false.
    Flag,
    /// An integer that is not negative.
    Whole,
    /// A number.
    Number,
    /// Text.
    Text,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// A list of values of this kind.
    List(Box<Kind>),
    /// Anything else; see the parameter's type.
    Other,
}

impl Kind {
    /// Returns the kind of the values of a type.
    ///
    /// ```
    /// use candor_design::request::Kind;
    ///
    /// assert_eq!(Kind::of::<Option<Vec<f64>>>(), Kind::List(Box::new(Kind::Number)));
    /// ```
    pub fn of<'de, T: Deserialize<'de>>() -> Kind {
        let mut kind = Kind::Other;
        // Deserialization always fails: nothing is deserialized, but the kind is recorded.
        let _ = T::deserialize(Asked(&mut kind));
        kind
    }

    /// Returns whether a value is of this kind.
    pub fn accepts(&self, value: &Value) -> bool {
        match self {
            Kind::Flag => value.is_boolean(),
            Kind::Whole => value.is_u64(),
            Kind::Number => value.is_number(),
            Kind::Text => value.is_string(),
            Kind::Choice(known) => value.as_str().is_some_and(|value| known.contains(&value)),
            Kind::List(each) => value.as_array().is_some_and(|values| values.iter().all(|value| each.accepts(value))),
            Kind::Other => true,
        }
    }

    /// Describes several values of this kind.
    fn several(&self) -> String {
        match self {
            Kind::Whole => "integers".to_owned(),
            Kind::Number => "numbers".to_owned(),
            Kind::Text => "texts".to_owned(),
            Kind::List(each) => format!("lists of {}", each.several()),
            other => other.to_string(),
        }
    }
}

/// Describes the kind as the end of a sentence: "a number", "a list of texts".
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Flag => write!(f, "true or false"),
            Kind::Whole => write!(f, "an integer, 0 or more"),
            Kind::Number => write!(f, "a number"),
            Kind::Text => write!(f, "text"),
            Kind::Choice(known) => write!(f, "one of {}", known.join(", ")),
            Kind::List(each) => write!(f, "a list of {}", each.several()),
            Kind::Other => write!(f, "something else"),
        }
    }
}

/// Returns the names of a struct's fields; empty for other types.
pub(super) fn names_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    let _ = T::deserialize(Struct { names: &mut names, kind_of: None });
    names
}

/// Returns the fields of a struct: names, kinds, and whether each is required.
pub(super) fn fields_of<T: DeserializeOwned>() -> Vec<Field> {
    let kind = |name: &'static str| {
        let mut kind = Kind::Other;
        let _ = T::deserialize(Struct { names: &mut &[][..], kind_of: Some((name, &mut kind)) });
        Field { name, kind, required: false }
    };
    let mut fields: Vec<Field> = names_of::<T>().iter().map(|name| kind(name)).collect();
    let mut given: Vec<(&'static str, Kind)> = Vec::new();
    // Each error names one missing field, which is then supplied.
    loop {
        let samples = given.iter().map(|(name, kind)| (*name, Sample(kind)));
        let Err(Missing(Some(name))) = T::deserialize(MapDeserializer::new(samples)) else { break };
        let Some(field) = fields.iter_mut().find(|field| field.name == name && !field.required) else { break };
        field.required = true;
        given.push((name, field.kind.clone()));
    }
    fields
}

/// An error that keeps the name of a missing field.
#[derive(Debug)]
struct Missing(Option<&'static str>);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field is missing or invalid")
    }
}

impl std::error::Error for Missing {}

impl serde::de::Error for Missing {
    fn custom<T: fmt::Display>(_: T) -> Missing {
        Missing(None)
    }

    fn missing_field(name: &'static str) -> Missing {
        Missing(Some(name))
    }
}

/// A deserializer of any value of a kind.
struct Sample<'a>(&'a Kind);

impl<'de> IntoDeserializer<'de, Missing> for Sample<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Sample<'_> {
    type Error = Missing;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Missing> {
        match self.0 {
            Kind::Flag => visitor.visit_bool(false),
            Kind::Whole | Kind::Number => visitor.visit_u64(1),
            Kind::Text => visitor.visit_str(""),
            Kind::Choice(known) => visitor.visit_enum(known.first().copied().unwrap_or_default().into_deserializer()),
            Kind::List(_) => visitor.visit_seq(SeqDeserializer::new(std::iter::empty::<u8>())),
            Kind::Other => visitor.visit_unit(),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Missing> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Missing> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// A deserializer that records the names of a struct's fields, and the kind of one of them.
struct Struct<'a> {
    names: &'a mut &'static [&'static str],
    kind_of: Option<(&'static str, &'a mut Kind)>,
}

impl<'de> Deserializer<'de> for Struct<'_> {
    type Error = Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.names = fields;
        match self.kind_of {
            Some((name, kind)) => visitor.visit_map(One { name: Some(name), kind }),
            None => Err(enough()),
        }
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> {
        Err(enough())
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

fn enough() -> Error {
    Error::custom("only the shape was wanted")
}

/// Access to one field of a struct, which records its kind.
struct One<'a> {
    name: Option<&'static str>,
    kind: &'a mut Kind,
}

impl<'de> MapAccess<'de> for One<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let name = self.name.take().map(serde::de::value::BorrowedStrDeserializer::new);
        name.map(|name| seed.deserialize(name)).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(Asked(self.kind))
    }
}

/// A deserializer that records the kind that a type requests.
struct Asked<'a>(&'a mut Kind);

impl Asked<'_> {
    fn is<T>(self, kind: Kind) -> Result<T, Error> {
        *self.0 = kind;
        Err(enough())
    }
}

macro_rules! asked {
    ($($method:ident)+ => $kind:expr) => {
        $(fn $method<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Error> { self.is($kind) })+
    };
}

impl<'de> Deserializer<'de> for Asked<'_> {
    type Error = Error;

    asked!(deserialize_bool => Kind::Flag);
    asked!(deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 => Kind::Whole);
    asked!(deserialize_f32 deserialize_f64 => Kind::Number);
    asked!(deserialize_char deserialize_str deserialize_string => Kind::Text);
    asked!(deserialize_any => Kind::Other);

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let mut each = Kind::Other;
        let _ = visitor.visit_seq(Each(&mut each));
        self.is(Kind::List(Box::new(each)))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Error> {
        self.is(Kind::Choice(variants))
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 bytes byte_buf unit unit_struct tuple tuple_struct map struct identifier ignored_any
    }
}

/// Access to the elements of a list, which records their kind.
struct Each<'a>(&'a mut Kind);

impl<'de> SeqAccess<'de> for Each<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        seed.deserialize(Asked(self.0)).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Way {
        Up,
        Down,
    }

    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its shape is looked at")]
    struct Several {
        first: f64,
        second: Option<Vec<f64>>,
        third: Vec<Vec<String>>,
        #[serde(default)]
        fourth: bool,
        fifth: Option<Way>,
        sixth: usize,
        seventh: Way,
    }

    #[test]
    fn fields_have_names_kinds_and_needs() {
        assert_eq!(names_of::<Several>(), ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"]);
        assert_eq!(names_of::<f64>(), [""; 0]);
        let told: Vec<String> = fields_of::<Several>()
            .iter()
            .map(|field| format!("{}{}: {}", field.name, if field.required { "" } else { "?" }, field.kind))
            .collect();
        assert_eq!(
            told,
            [
                "first: a number",
                "second?: a list of numbers",
                "third: a list of lists of texts",
                "fourth?: true or false",
                "fifth?: one of up, down",
                "sixth: an integer, 0 or more",
                "seventh: one of up, down",
            ]
        );
    }

    #[test]
    fn kinds_accept_what_their_types_do() {
        let values = [
            json!(true),
            json!(1),
            json!(-1),
            json!(1.5),
            json!("up"),
            json!("x"),
            json!([1]),
            json!(["x"]),
            json!([]),
        ];
        fn reads<T: DeserializeOwned>(value: &Value) -> bool {
            serde_json::from_value::<T>(value.clone()).is_ok()
        }
        for value in &values {
            assert_eq!(Kind::of::<bool>().accepts(value), reads::<bool>(value), "{value}");
            assert_eq!(Kind::of::<u64>().accepts(value), reads::<u64>(value), "{value}");
            assert_eq!(Kind::of::<f64>().accepts(value), reads::<f64>(value), "{value}");
            assert_eq!(Kind::of::<String>().accepts(value), reads::<String>(value), "{value}");
            assert_eq!(Kind::of::<Way>().accepts(value), reads::<Way>(value), "{value}");
            assert_eq!(Kind::of::<Vec<f64>>().accepts(value), reads::<Vec<f64>>(value), "{value}");
        }
    }
}
