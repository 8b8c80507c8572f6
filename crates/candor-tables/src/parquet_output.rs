//! Parquet output, an optional feature.

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

    /// Number of rows in a row group.
    const ROW_GROUP: usize = 1 << 20;

    /// A file in progress.
    pub(crate) struct ParquetOutput(Box<ArrowWriter<Pending>>);

    impl ParquetOutput {
        /// Starts a small file.
        pub(crate) fn new(target: &Target, schema: SchemaRef) -> Result<ParquetOutput, TableError> {
            ParquetOutput::with(target, schema, None)
        }

        /// Starts a file with many rows, and with these metadata.
        pub(crate) fn of_rows(
            target: &Target,
            schema: SchemaRef,
            metadata: &[(&str, String)],
        ) -> Result<ParquetOutput, TableError> {
            let pair = |(key, value): &(&str, String)| KeyValue::new((*key).to_owned(), value.clone());
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .set_max_row_group_row_count(Some(ROW_GROUP))
                // Statistics of pages are of little use and would take a third of the writing time.
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

        /// Completes the file, which is not at its place yet.
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

    /// Replaces the output in builds without this feature.
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
