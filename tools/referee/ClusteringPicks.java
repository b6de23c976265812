package referee;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.paimon.CoreOptions;
import org.apache.paimon.append.cluster.IncrementalClusterManager;
import org.apache.paimon.append.cluster.IncrementalClusterStrategy;
import org.apache.paimon.compact.CompactUnit;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.mergetree.LevelSortedRun;
import org.apache.paimon.schema.SchemaManager;
import org.apache.paimon.schema.TableSchema;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.table.FileStoreTable;

/** Which files of append tables Paimon would cluster. */
final class ClusteringPicks {

    private ClusteringPicks() {}

    /**
     * {cases}: files that are not there, as of {@link CompactionPicks}, all of one schema, and the
     * columns that they were sorted by: [{options, files, full, columns}, ...].
     *
     * @return {answers: [{files, level} or null, ...]}
     */
    static JsonNode answer(JsonNode request) {
        ArrayNode answers = Values.NODES.arrayNode();
        for (JsonNode each : request.get("cases")) {
            CoreOptions options = CompactionPicks.options(each);
            IncrementalClusterStrategy strategy =
                    new IncrementalClusterStrategy(
                            new OneSchema(each.get("columns").asText()),
                            options.clusteringColumns(),
                            options.maxSizeAmplificationPercent(),
                            options.sortedRunSizeRatio(),
                            options.numSortedRunCompactionTrigger());
            List<LevelSortedRun> runs =
                    IncrementalClusterManager.constructPartitionLevels(CompactionPicks.files(each));
            Optional<CompactUnit> unit =
                    strategy.pick(options.numLevels(), runs, each.get("full").asBoolean());
            answers.add(unit.isPresent() ? described(unit.get()) : Values.NODES.nullNode());
        }
        return Values.NODES.objectNode().set("answers", answers);
    }

    /**
     * {table, full}: of a table without buckets.
     *
     * @return a unit for each partition that is clustered: [{files, level}, ...]
     */
    static JsonNode plan(FileStoreTable table, boolean isFull) {
        ArrayNode units = Values.NODES.arrayNode();
        Map<BinaryRow, CompactUnit> planned =
                new IncrementalClusterManager(table).createCompactUnits(isFull);
        planned.values().forEach(unit -> units.add(described(unit)));
        return units;
    }

    private static ObjectNode described(CompactUnit unit) {
        ObjectNode described = Values.NODES.objectNode().put("level", unit.outputLevel());
        ArrayNode names = described.putArray("files");
        unit.files().forEach(file -> names.add(file.fileName()));
        return described;
    }

    /** The schema of all files, of which only the clustering columns are asked for. */
    private static final class OneSchema extends SchemaManager {

        private final String columns;

        OneSchema(String columns) {
            super(LocalFileIO.create(), new Path("/nowhere"));
            this.columns = columns;
        }

        @Override
        public TableSchema schema(long id) {
            Map<String, String> options = Map.of(CoreOptions.CLUSTERING_COLUMNS.key(), columns);
            return new TableSchema(id, List.of(), 0, List.of(), List.of(), options, "");
        }
    }
}
