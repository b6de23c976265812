package referee;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.paimon.CoreOptions;
import org.apache.paimon.KeyValue;
import org.apache.paimon.append.AppendCompactCoordinator;
import org.apache.paimon.append.AppendCompactTask;
import org.apache.paimon.append.BucketedAppendCompactManager;
import org.apache.paimon.compact.CompactResult;
import org.apache.paimon.compact.CompactUnit;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.deletionvectors.BucketedDvMaintainer;
import org.apache.paimon.deletionvectors.DeletionVectorsIndexFile;
import org.apache.paimon.index.IndexFileMeta;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.manifest.FileSource;
import org.apache.paimon.manifest.IndexManifestEntry;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.mergetree.Levels;
import org.apache.paimon.mergetree.LevelSortedRun;
import org.apache.paimon.mergetree.SortedRun;
import org.apache.paimon.mergetree.compact.CompactRewriter;
import org.apache.paimon.mergetree.compact.CompactStrategy;
import org.apache.paimon.mergetree.compact.EarlyFullCompaction;
import org.apache.paimon.mergetree.compact.ForceUpLevel0Compaction;
import org.apache.paimon.mergetree.compact.FullChangelogMergeTreeCompactRewriter;
import org.apache.paimon.mergetree.compact.LookupMergeTreeCompactRewriter;
import org.apache.paimon.mergetree.compact.MergeTreeCompactManager;
import org.apache.paimon.mergetree.compact.MergeTreeCompactRewriter;
import org.apache.paimon.mergetree.compact.OffPeakHours;
import org.apache.paimon.mergetree.compact.UniversalCompaction;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.stats.SimpleStats;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.source.EndOfScanException;
import org.apache.paimon.utils.Pair;

/**
 * What Paimon's writers would compact of a bucket, and how: its own policies and its own tasks run
 * over files that are not there, with a rewriter that only notes what it is asked.
 *
 * <p>A case is {kind, options, files, ...}. A file is [name, level, size, min key, max key, sequence
 * number, rows that are deletes or null]. The answer is null where nothing is compacted.
 */
final class CompactionPicks {

    private final ExecutorService executor = Executors.newSingleThreadExecutor();

    /** {cases}: the answers, in a list. */
    static JsonNode answer(JsonNode request) throws Exception {
        CompactionPicks picks = new CompactionPicks();
        try {
            ArrayNode answers = Values.NODES.arrayNode();
            for (JsonNode each : request.get("cases")) {
                boolean isKeyed = each.get("kind").asText().equals("keyed");
                answers.add(isKeyed ? picks.keyed(each) : picks.append(each));
            }
            return Values.NODES.objectNode().set("answers", answers);
        } finally {
            picks.executor.shutdown();
        }
    }

    /**
     * {full, compacted, marked}: whether a full compaction is asked for, whether there has just been
     * one, and which files have a deletion vector.
     *
     * @return {files, level, deletes: kept or dropped, steps: [[name of the step, whether changes are
     *     tracked, files...], ...]}
     */
    private JsonNode keyed(JsonNode asked) throws Exception {
        CoreOptions options = options(asked);
        List<DataFileMeta> files = files(asked);
        BucketedDvMaintainer vectors = null;
        if (options.deletionVectorsEnabled()) {
            vectors = vectors();
            for (JsonNode name : asked.get("marked")) {
                vectors.notifyNewDeletion(name.asText(), 0);
            }
        }
        Levels levels = new Levels(CompactionPicks::compareKeys, files, options.numLevels());
        Notes notes = new Notes();
        CompactStrategy strategy = strategy(options, asked.get("compacted").asBoolean());
        if (asked.get("full").asBoolean()) {
            CompactStrategy.pickFullCompaction(
                            levels.numberOfLevels(),
                            levels.levelSortedRuns(),
                            null,
                            vectors,
                            options.forceRewriteAllFiles())
                    .ifPresent(notes::take);
        }
        MergeTreeCompactManager manager =
                new MergeTreeCompactManager(
                        executor,
                        levels,
                        new NotedStrategy(strategy, notes),
                        CompactionPicks::compareKeys,
                        options.compactionFileSize(true),
                        options.numSortedRunStopTrigger(),
                        rewriter(options, levels.maxLevel(), vectors, notes),
                        null,
                        vectors,
                        true,
                        options.needLookup(),
                        null,
                        options.forceRewriteAllFiles(),
                        false);
        manager.triggerCompaction(asked.get("full").asBoolean());
        Optional<CompactResult> result = manager.getCompactionResult(true);
        return result.isPresent() ? notes.toJson() : Values.NODES.nullNode();
    }

    /** {full}: of a bucket without keys; the answer is the names of the files. */
    private JsonNode append(JsonNode asked) throws Exception {
        CoreOptions options = options(asked);
        ArrayNode names = Values.NODES.arrayNode();
        BucketedAppendCompactManager manager =
                new BucketedAppendCompactManager(
                        executor,
                        files(asked),
                        null,
                        options.compactionMinFileNum(),
                        options.targetFileSize(false),
                        options.compactionFileSize(false),
                        options.forceRewriteAllFiles(),
                        files -> {
                            files.forEach(file -> names.add(file.fileName()));
                            return Collections.emptyList();
                        },
                        null);
        manager.triggerCompaction(asked.get("full").asBoolean());
        manager.getCompactionResult(true);
        return names.isEmpty() ? Values.NODES.nullNode() : names;
    }

    /**
     * What the coordinator of a table without buckets makes of the small files of its partitions.
     *
     * @return {files: [[partition, name, size, rows, index file of its deletion vector or null, rows
     *     that this marks], ...], tasks: [[names], ...]}
     */
    static JsonNode plan(FileStoreTable table) throws Exception {
        Map<String, Pair<String, Long>> vectors = new HashMap<>();
        for (IndexManifestEntry entry :
                table.store().newIndexFileHandler().scan("DELETION_VECTORS")) {
            IndexFileMeta index = entry.indexFile();
            index.dvRanges()
                    .forEach(
                            (name, vector) ->
                                    vectors.put(
                                            name, Pair.of(index.fileName(), vector.cardinality())));
        }
        ObjectNode answer = Values.NODES.objectNode();
        ArrayNode files = answer.putArray("files");
        for (ManifestEntry entry : table.store().newScan().plan().files()) {
            DataFileMeta file = entry.file();
            ArrayNode described = files.addArray().add(entry.partition().hashCode());
            described.add(file.fileName()).add(file.fileSize()).add(file.rowCount());
            Pair<String, Long> vector = vectors.get(file.fileName());
            described.add(vector == null ? null : vector.getLeft());
            described.add(vector == null ? null : vector.getRight());
        }
        ArrayNode tasks = answer.putArray("tasks");
        try {
            for (AppendCompactTask task : new AppendCompactCoordinator(table, false).run()) {
                ArrayNode names = tasks.addArray();
                task.compactBefore().forEach(file -> names.add(file.fileName()));
            }
        } catch (EndOfScanException nothingIsSmall) {
            return answer;
        }
        return answer;
    }

    private static CompactStrategy strategy(CoreOptions options, boolean isCompacted) {
        EarlyFullCompaction early = EarlyFullCompaction.create(options);
        if (early != null && isCompacted) {
            early.updateLastFullCompaction();
        }
        UniversalCompaction universal =
                new UniversalCompaction(
                        options.maxSizeAmplificationPercent(),
                        options.sortedRunSizeRatio(),
                        options.numSortedRunCompactionTrigger(),
                        early,
                        OffPeakHours.create(options));
        if (options.needLookup()) {
            boolean isGentle = options.lookupCompact() == CoreOptions.LookupCompactMode.GENTLE;
            return new ForceUpLevel0Compaction(
                    universal, isGentle ? options.lookupCompactMaxInterval() : null);
        }
        return options.compactionForceUpLevel0()
                ? new ForceUpLevel0Compaction(universal, null)
                : universal;
    }

    private static CompactRewriter rewriter(
            CoreOptions options, int maxLevel, BucketedDvMaintainer vectors, Notes notes) {
        if (options.changelogProducer() == CoreOptions.ChangelogProducer.FULL_COMPACTION) {
            return new FullChangelogRewriter(options, maxLevel, notes);
        }
        if (options.needLookup()) {
            return new LookupRewriter(options, maxLevel, vectors, notes);
        }
        return new PlainRewriter(notes);
    }

    static CoreOptions options(JsonNode asked) {
        Map<String, String> options = new HashMap<>();
        asked.get("options")
                .fields()
                .forEachRemaining(entry -> options.put(entry.getKey(), entry.getValue().asText()));
        return new CoreOptions(options);
    }

    static List<DataFileMeta> files(JsonNode asked) {
        List<DataFileMeta> files = new ArrayList<>();
        for (JsonNode file : asked.get("files")) {
            files.add(
                    DataFileMeta.create(
                            file.get(0).asText(),
                            file.get(2).asLong(),
                            100,
                            BinaryRow.singleColumn(file.get(3).asInt()),
                            BinaryRow.singleColumn(file.get(4).asInt()),
                            SimpleStats.EMPTY_STATS,
                            SimpleStats.EMPTY_STATS,
                            file.get(5).asLong(),
                            file.get(5).asLong(),
                            0,
                            file.get(1).asInt(),
                            Collections.emptyList(),
                            file.get(6).isNull() ? null : file.get(6).asLong(),
                            null,
                            FileSource.APPEND,
                            null,
                            null,
                            null,
                            null));
        }
        return files;
    }

    /** One that no index file is behind; Paimon makes it only for a table on a store. */
    private static BucketedDvMaintainer vectors() throws Exception {
        var constructor =
                BucketedDvMaintainer.class.getDeclaredConstructor(
                        DeletionVectorsIndexFile.class, Map.class);
        constructor.setAccessible(true);
        return constructor.newInstance(
                new DeletionVectorsIndexFile(null, null, null, false), new HashMap<>());
    }

    private static int compareKeys(InternalRow one, InternalRow other) {
        return Integer.compare(one.getInt(0), other.getInt(0));
    }

    /** What was picked and asked for. */
    private static final class Notes {

        private final ObjectNode notes = Values.NODES.objectNode();
        private final ArrayNode steps = Values.NODES.arrayNode();

        private void take(CompactUnit unit) {
            ArrayNode names = notes.putArray("files");
            unit.files().forEach(file -> names.add(file.fileName()));
            notes.put("level", unit.outputLevel());
        }

        private CompactResult rewrite(
                boolean tracks, boolean dropsDeletes, List<List<SortedRun>> sections) {
            notes.put("deletes", dropsDeletes ? "dropped" : "kept");
            ArrayNode step = steps.addArray().add("rewrite").add(tracks);
            List<DataFileMeta> before = new ArrayList<>();
            for (List<SortedRun> section : sections) {
                section.forEach(run -> before.addAll(run.files()));
            }
            before.forEach(file -> step.add(file.fileName()));
            return new CompactResult(before, Collections.emptyList());
        }

        private CompactResult upgrade(boolean tracks, int level, DataFileMeta file) {
            steps.addArray().add("upgrade").add(tracks).add(file.fileName());
            return new CompactResult(file, file.upgrade(level));
        }

        private JsonNode toJson() {
            return notes.set("steps", steps);
        }
    }

    private static final class NotedStrategy implements CompactStrategy {

        private final CompactStrategy strategy;
        private final Notes notes;

        private NotedStrategy(CompactStrategy strategy, Notes notes) {
            this.strategy = strategy;
            this.notes = notes;
        }

        @Override
        public Optional<CompactUnit> pick(int levelCount, List<LevelSortedRun> runs) {
            Optional<CompactUnit> unit = strategy.pick(levelCount, runs);
            unit.ifPresent(notes::take);
            return unit;
        }
    }

    private static final class PlainRewriter extends MergeTreeCompactRewriter {

        private final Notes notes;

        private PlainRewriter(Notes notes) {
            super(null, null, null, null, null, null);
            this.notes = notes;
        }

        @Override
        public CompactResult rewrite(int level, boolean drops, List<List<SortedRun>> sections) {
            return notes.rewrite(false, drops, sections);
        }

        @Override
        public CompactResult upgrade(int level, DataFileMeta file) {
            return notes.upgrade(false, level, file);
        }
    }

    private static final class FullChangelogRewriter extends FullChangelogMergeTreeCompactRewriter {

        private final Notes notes;

        private FullChangelogRewriter(CoreOptions options, int maxLevel, Notes notes) {
            super(maxLevel, options.mergeEngine(), null, null, null, null, null, null, null);
            this.notes = notes;
        }

        @Override
        public CompactResult rewrite(int level, boolean drops, List<List<SortedRun>> sections) {
            return notes.rewrite(rewriteChangelog(level, drops, sections), drops, sections);
        }

        @Override
        public CompactResult upgrade(int level, DataFileMeta file) {
            boolean tracks = !upgradeStrategy(level, file).name().equals("NO_CHANGELOG_NO_REWRITE");
            return notes.upgrade(tracks, level, file);
        }
    }

    private static final class LookupRewriter extends LookupMergeTreeCompactRewriter<KeyValue> {

        private final boolean hasVectors;
        private final Notes notes;

        private LookupRewriter(
                CoreOptions options, int maxLevel, BucketedDvMaintainer vectors, Notes notes) {
            super(
                    maxLevel, options.mergeEngine(), null, null, null, null, null, null, null, null,
                    true, vectors, options, null);
            this.hasVectors = vectors != null;
            this.notes = notes;
        }

        @Override
        public CompactResult rewrite(int level, boolean drops, List<List<SortedRun>> sections) {
            return notes.rewrite(rewriteChangelog(level, drops, sections), drops, sections);
        }

        @Override
        public CompactResult upgrade(int level, DataFileMeta file) {
            switch (upgradeStrategy(level, file).name()) {
                case "CHANGELOG_WITH_REWRITE":
                    List<SortedRun> section = List.of(SortedRun.fromSingle(file));
                    // A file that may change to the max level this way has no deletes to keep.
                    boolean drops = hasVectors || level == maxLevel;
                    return notes.rewrite(true, drops, List.of(section));
                case "CHANGELOG_NO_REWRITE":
                    return notes.upgrade(true, level, file);
                default:
                    return notes.upgrade(false, level, file);
            }
        }
    }
}
