//! Parquet files as outputs, which a build can do without.

pub(crate) use written::ParquetOutput;

#[cfg(feature = "parquet")]
mod written {
    use arrow_array::RecordBatch;
    use arrow_schema::SchemaRef;
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::errors::ParquetError;
    use parquet::file::metadata::KeyValue;
    use parquet::file::properties::{EnabledStatistics, WriterProperties};

    use crate::TableError;
    use crate::output::{Pending, Target};

    /// Rows in a row group.
    const ROW_GROUP: usize = 1 << 20;

    /// A file that is being written.
    pub(crate) struct ParquetOutput(Box<ArrowWriter<Pending>>);

    impl ParquetOutput {
        /// Begins a small file.
        pub(crate) fn new(target: &Target, schema: SchemaRef) -> Result<ParquetOutput, TableError> {
            ParquetOutput::with(target, schema, None)
        }

        /// Begins a file of many rows; `metadata` are keys and values that travel with it.
        pub(crate) fn of_rows(
            target: &Target,
            schema: SchemaRef,
            metadata: &[(&str, String)],
        ) -> Result<ParquetOutput, TableError> {
            let pair = |(key, value): &(&str, String)| KeyValue::new((*key).to_owned(), value.clone());
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .set_max_row_group_row_count(Some(ROW_GROUP))
                // Least and greatest label of a page help nobody, and cost a third of the writing.
                .set_statistics_enabled(EnabledStatistics::None)
                .set_key_value_metadata(Some(metadata.iter().map(pair).collect()))
                .build();
            ParquetOutput::with(target, schema, Some(properties))
        }

        fn with(
            target: &Target,
            schema: SchemaRef,
            properties: Option<WriterProperties>,
        ) -> Result<ParquetOutput, TableError> {
            let writer = ArrowWriter::try_new(Pending::new(target)?, schema, properties);
            writer.map(|writer| ParquetOutput(Box::new(writer))).map_err(|error| failed(target, &error))
        }

        pub(crate) fn write(&mut self, batch: &RecordBatch, target: &Target) -> Result<(), TableError> {
            self.0.write(batch).map_err(|error| failed(target, &error))
        }

        /// Ends the file, which is still to be put in its place.
        pub(crate) fn end(self, target: &Target) -> Result<Pending, TableError> {
            self.0.into_inner().map_err(|error| failed(target, &error))
        }
    }

    fn failed(target: &Target, error: &ParquetError) -> TableError {
        target.failed(std::io::Error::other(error.to_string()))
    }
}

#[cfg(not(feature = "parquet"))]
mod written {
    use arrow_array::RecordBatch;
    use arrow_schema::SchemaRef;

    use crate::TableError;
    use crate::output::{Pending, Target};

    /// No file, because there is none in this build.
    pub(crate) enum ParquetOutput {}

    impl ParquetOutput {
        pub(crate) fn new(target: &Target, _: SchemaRef) -> Result<ParquetOutput, TableError> {
            Err(TableError::NotBuilt(target.name(), "Parquet"))
        }

        pub(crate) fn of_rows(
            target: &Target,
            schema: SchemaRef,
            _: &[(&str, String)],
        ) -> Result<ParquetOutput, TableError> {
            ParquetOutput::new(target, schema)
        }

        pub(crate) fn write(&mut self, _: &RecordBatch, _: &Target) -> Result<(), TableError> {
            match *self {}
        }

        pub(crate) fn end(self, _: &Target) -> Result<Pending, TableError> {
            match self {}
        }
    }
}
