package referee;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.append.AppendCompactTask;
import org.apache.paimon.catalog.Catalog;
import org.apache.paimon.catalog.FileSystemCatalog;
import org.apache.paimon.catalog.Identifier;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.index.BucketAssigner;
import org.apache.paimon.index.HashBucketAssigner;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.operation.BaseAppendFileStoreWrite;
import org.apache.paimon.predicate.Predicate;
import org.apache.paimon.predicate.PredicateBuilder;
import org.apache.paimon.reader.RecordReaderIterator;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.BucketMode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.PostponeUtils;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.RowKeyExtractor;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.RowKind;
import org.apache.paimon.types.RowType;
import org.apache.paimon.utils.JsonSerdeUtil;
import org.apache.paimon.utils.Pair;

/**
 * The real Paimon as a process that answers: one JSON request a line on stdin, one JSON answer a
 * line on stdout, until stdin ends. An answer is {"value": ...} or {"error": "stack trace"}.
 *
 * <p>Schemas, types and schema changes are written as in the protocol of Paimon's REST catalog, for
 * Paimon's own classes read them. How values are written is said in {@link Values}. Every request
 * names the directory of its table, WAREHOUSE/DATABASE.db/TABLE, and loads the table anew, but for
 * cases of {@link CompactionPicks} and {@link ClusteringPicks}, whose files are not there.
 */
public final class Referee {

    private final IOManager ioManager;

    private Referee(IOManager ioManager) {
        this.ioManager = ioManager;
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        java.nio.file.Path scratch = Files.createTempDirectory("referee");
        try (IOManager ioManager = IOManager.create(scratch.toString())) {
            Referee referee = new Referee(ioManager);
            BufferedReader requests =
                    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = requests.readLine(); line != null; line = requests.readLine()) {
                answers.println(JsonSerdeUtil.toFlatJson(referee.answer(line)));
                answers.flush();
            }
        } finally {
            Files.deleteIfExists(scratch);
        }
        // Threads of Hadoop and of compaction would keep the process alive.
        System.exit(0);
    }

    /** Whatever goes wrong is an answer too: the process that asked decides what it means. */
    private ObjectNode answer(String line) {
        ObjectNode answer = Values.NODES.objectNode();
        try {
            JsonNode request = JsonSerdeUtil.fromJson(line, JsonNode.class);
            answer.set("value", carryOut(request));
        } catch (Throwable problem) {
            StringWriter trace = new StringWriter();
            problem.printStackTrace(new PrintWriter(trace));
            answer.put("error", trace.toString());
        }
        return answer;
    }

    private JsonNode carryOut(JsonNode request) throws Exception {
        String operation = request.get("operation").asText();
        switch (operation) {
            case "create":
                return create(request);
            case "alter":
                return alter(request);
            case "write":
                return write(request);
            case "compact":
                return compact(request);
            case "read":
                return read(request);
            case "stream":
                return ChangeStream.rows(load(request), request);
            case "history":
                return HistoryChange.apply(load(request), request);
            case "orphans":
                return OrphanFiles.remove((FileStoreTable) load(request), request);
            case "metadata":
                return new Metadata((FileStoreTable) load(request)).describe();
            case "picks":
                return CompactionPicks.answer(request);
            case "append-plan":
                return CompactionPicks.plan((FileStoreTable) load(request));
            case "clustering-picks":
                return ClusteringPicks.answer(request);
            case "clustering-plan":
                return ClusteringPicks.plan(
                        (FileStoreTable) load(request), request.get("full").asBoolean());
            case "tags":
                return Tags.carryOut((FileStoreTable) load(request), request);
            default:
                throw new IllegalArgumentException("no operation " + operation);
        }
    }

    /** {table, schema}: makes a table, and its database if need be. */
    private JsonNode create(JsonNode request) throws Exception {
        Place place = new Place(request.get("table").asText());
        try (Catalog catalog = place.catalog()) {
            catalog.createDatabase(place.identifier.getDatabaseName(), true);
            Schema schema = JsonSerdeUtil.fromJson(request.get("schema").toString(), Schema.class);
            catalog.createTable(place.identifier, schema, false);
        }
        return Values.NODES.nullNode();
    }

    /** {table, changes}: alters the schema, all changes in one step. */
    private JsonNode alter(JsonNode request) throws Exception {
        List<SchemaChange> changes = new ArrayList<>();
        for (JsonNode change : request.get("changes")) {
            changes.add(JsonSerdeUtil.fromJson(change.toString(), SchemaChange.class));
        }
        Place place = new Place(request.get("table").asText());
        try (Catalog catalog = place.catalog()) {
            catalog.alterTable(place.identifier, changes, false);
        }
        return Values.NODES.nullNode();
    }

    /**
     * {table, rows: [["+I", value, ...], ...], overwrite?, assign?}: writes rows in one commit, over
     * those of the partitions met or beside them. The writer compacts as the table's options say.
     * Of a table with dynamic buckets two are filled, or those that Paimon's assigner picks.
     */
    private JsonNode write(JsonNode request) throws Exception {
        Table table = load(request);
        RowType type = table.rowType();
        BatchWriteBuilder builder = table.newBatchWriteBuilder();
        if (request.get("overwrite").asBoolean()) {
            builder = builder.withOverwrite(Map.of());
        }
        boolean assignsBuckets = ((FileStoreTable) table).bucketMode() == BucketMode.HASH_DYNAMIC;
        RowKeyExtractor keys = ((FileStoreTable) table).createRowKeyExtractor();
        BucketAssigner assigner = assigner((FileStoreTable) table, request.get("assign").asBoolean());
        try (BatchTableWrite write = builder.newWrite();
                BatchTableCommit commit = builder.newCommit()) {
            write.withIOManager(ioManager);
            for (JsonNode row : request.get("rows")) {
                GenericRow record = toRow(row, type);
                if (assignsBuckets) {
                    keys.setRecord(record);
                    int hash = keys.trimmedPrimaryKey().hashCode();
                    write.write(record, assigner.assign(keys.partition(), hash));
                } else {
                    write.write(record);
                }
            }
            commit.commit(write.prepareCommit());
        }
        return Values.NODES.nullNode();
    }

    /** Who picks dynamic buckets: Paimon's own, alone for all keys, or one that fills two. */
    private static BucketAssigner assigner(FileStoreTable table, boolean isReal) {
        if (isReal) {
            return new HashBucketAssigner(
                    table.snapshotManager(),
                    "referee",
                    table.store().newIndexFileHandler(),
                    1,
                    1,
                    0,
                    table.coreOptions().dynamicBucketTargetRowNum(),
                    table.coreOptions().dynamicBucketMaxBuckets());
        }
        return new BucketAssigner() {
            @Override
            public int assign(BinaryRow partition, int hash) {
                return Math.floorMod(hash, 2);
            }

            @Override
            public void prepareCommit(long identifier) {}
        };
    }

    private static GenericRow toRow(JsonNode values, RowType type) {
        GenericRow row = new GenericRow(type.getFieldCount());
        row.setRowKind(RowKind.fromShortString(values.get(0).asText()));
        for (int i = 0; i < type.getFieldCount(); i++) {
            row.setField(i, Values.decode(values.get(i + 1), type.getTypeAt(i)));
        }
        return row;
    }

    /** {table, full}: compacts every bucket that has files, in one commit. */
    private JsonNode compact(JsonNode request) throws Exception {
        // A writer of a write-only table compacts nothing, whatever it is asked.
        FileStoreTable table = (FileStoreTable) load(request).copy(Map.of("write-only", "false"));
        Map<Pair<BinaryRow, Integer>, List<DataFileMeta>> buckets = new LinkedHashMap<>();
        for (ManifestEntry entry : table.store().newScan().plan().files()) {
            if (entry.bucket() >= 0) {
                buckets.computeIfAbsent(
                                Pair.of(entry.partition(), entry.bucket()), b -> new ArrayList<>())
                        .add(entry.file());
            }
        }
        FileStoreTable writer = table;
        if (table.bucketMode() == BucketMode.POSTPONE_MODE) {
            writer = PostponeUtils.tableForFixBucketWrite(table).copy(Map.of("write-only", "false"));
        }
        try (BatchTableWrite write = writer.newBatchWriteBuilder().newWrite();
                BatchTableCommit commit = table.newBatchWriteBuilder().newCommit()) {
            write.withIOManager(ioManager);
            if (table.bucketMode() == BucketMode.BUCKET_UNAWARE) {
                commit.commit(compactUnaware(table, buckets));
                return Values.NODES.nullNode();
            }
            for (Pair<BinaryRow, Integer> bucket : buckets.keySet()) {
                write.compact(bucket.getLeft(), bucket.getRight(), request.get("full").asBoolean());
            }
            commit.commit(write.prepareCommit());
        }
        return Values.NODES.nullNode();
    }

    /** Without buckets a partition's files are compacted by a task of their own. */
    private static List<CommitMessage> compactUnaware(
            FileStoreTable table, Map<Pair<BinaryRow, Integer>, List<DataFileMeta>> partitions)
            throws Exception {
        List<CommitMessage> messages = new ArrayList<>();
        BaseAppendFileStoreWrite write =
                (BaseAppendFileStoreWrite) (Object) table.store().newWrite("referee");
        try {
            for (Map.Entry<Pair<BinaryRow, Integer>, List<DataFileMeta>> bucket :
                    partitions.entrySet()) {
                BinaryRow partition = bucket.getKey().getLeft();
                List<DataFileMeta> files = bucket.getValue();
                if (files.size() > 1) {
                    messages.add(new AppendCompactTask(partition, files).doCompact(table, write));
                }
            }
        } finally {
            write.close();
        }
        return messages;
    }

    /**
     * {table, options?, columns?, filter?: [[column, comparison, literal], ...]}: reads rows.
     *
     * @return {columns: [[name, type], ...], rows: [["+I", value, ...], ...]}
     */
    private JsonNode read(JsonNode request) throws Exception {
        Table table = load(request);
        RowType type = table.rowType();
        ReadBuilder builder = table.newReadBuilder();
        if (request.hasNonNull("filter")) {
            builder.withFilter(toPredicate(request.get("filter"), type));
        }
        if (request.hasNonNull("columns")) {
            List<String> names = new ArrayList<>();
            request.get("columns").forEach(name -> names.add(name.asText()));
            type = type.project(names);
            builder.withReadType(type);
        }
        ArrayNode columns = Values.NODES.arrayNode();
        for (DataField field : type.getFields()) {
            ArrayNode column = columns.addArray().add(field.name());
            column.add(JsonSerdeUtil.fromJson(JsonSerdeUtil.toFlatJson(field.type()), JsonNode.class));
        }
        ArrayNode rows = Values.NODES.arrayNode();
        List<Split> splits = builder.newScan().plan().splits();
        try (RecordReaderIterator<InternalRow> found =
                new RecordReaderIterator<>(
                        builder.newRead()
                                .executeFilter()
                                .withIOManager(ioManager)
                                .createReader(splits))) {
            while (found.hasNext()) {
                rows.add(fromRow(found.next(), type));
            }
        }
        return Values.NODES.objectNode().<ObjectNode>set("columns", columns).set("rows", rows);
    }

    static ArrayNode fromRow(InternalRow row, RowType type) {
        ArrayNode values = Values.NODES.arrayNode().add(row.getRowKind().shortString());
        for (int i = 0; i < type.getFieldCount(); i++) {
            values.add(Values.encode(row, i, type.getTypeAt(i)));
        }
        return values;
    }

    private static Predicate toPredicate(JsonNode conjuncts, RowType type) {
        PredicateBuilder builder = new PredicateBuilder(type);
        List<Predicate> predicates = new ArrayList<>();
        for (JsonNode conjunct : conjuncts) {
            int index = type.getFieldIndex(conjunct.get(0).asText());
            DataType kind = type.getTypeAt(index);
            predicates.add(compare(builder, index, conjunct.get(1).asText(),
                    Values.decode(conjunct.get(2), kind)));
        }
        return PredicateBuilder.and(predicates);
    }

    private static Predicate compare(
            PredicateBuilder builder, int index, String comparison, Object literal) {
        switch (comparison) {
            case "=":
                return builder.equal(index, literal);
            case "<>":
                return builder.notEqual(index, literal);
            case "<":
                return builder.lessThan(index, literal);
            case "<=":
                return builder.lessOrEqual(index, literal);
            case ">":
                return builder.greaterThan(index, literal);
            case ">=":
                return builder.greaterOrEqual(index, literal);
            case "IS NULL":
                return builder.isNull(index);
            case "IS NOT NULL":
                return builder.isNotNull(index);
            default:
                throw new IllegalArgumentException("no comparison " + comparison);
        }
    }

    private static Table load(JsonNode request) throws Exception {
        Place place = new Place(request.get("table").asText());
        Map<String, String> options = new HashMap<>();
        if (request.hasNonNull("options")) {
            request.get("options")
                    .fields()
                    .forEachRemaining(entry -> options.put(entry.getKey(), entry.getValue().asText()));
        }
        try (Catalog catalog = place.catalog()) {
            return catalog.getTable(place.identifier).copy(options);
        }
    }

    /** Where a table is: its catalog and its name there, with $SYSTEM_TABLE where one is meant. */
    private static final class Place {

        private final Path warehouse;
        private final Identifier identifier;

        private Place(String directory) {
            Path table = new Path(directory);
            Path database = table.getParent();
            String name = database.getName();
            warehouse = database.getParent();
            identifier =
                    Identifier.create(name.substring(0, name.lastIndexOf(".db")), table.getName());
        }

        private Catalog catalog() {
            return new FileSystemCatalog(new LocalFileIO(), warehouse);
        }
    }
}
