//! Fields of results with a new name in JSON, which have the old one, too, until the next release.

use serde::{Serialize, Serializer, ser::SerializeMap};

/// Defines serializers of flattened fields that write both names.
macro_rules! both {
    ($($new:ident = $old:literal,)*) => {
        $(pub(crate) fn $new<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
            let mut map = serializer.serialize_map(Some(2))?;
            map.serialize_entry(stringify!($new), value)?;
            map.serialize_entry($old, value)?;
            map.end()
        })*
    };
}

both! {
    conditioning_attributes = "given",
    lower_scenario = "if_none",
    lower_scenario_standard_error = "if_none_standard_error",
    mse = "utility",
    quantity = "of",
    sampling_note = "design",
    self_protective_answer = "says",
    upper_scenario = "if_all",
    upper_scenario_standard_error = "if_all_standard_error",
    variance_inflation = "design_effect",
}
