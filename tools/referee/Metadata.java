package referee;

import java.util.Iterator;
import java.util.List;
import org.apache.paimon.Snapshot;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.manifest.IndexManifestEntry;
import org.apache.paimon.manifest.IndexManifestEntrySerializer;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.manifest.ManifestEntrySerializer;
import org.apache.paimon.manifest.ManifestFile;
import org.apache.paimon.manifest.ManifestFileMeta;
import org.apache.paimon.manifest.ManifestFileMetaSerializer;
import org.apache.paimon.manifest.ManifestList;
import org.apache.paimon.schema.TableSchema;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.stats.SimpleStats;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.RowType;
import org.apache.paimon.utils.ObjectSerializer;
import org.apache.paimon.utils.VersionedObjectSerializer;

/**
 * What the manifests of every snapshot say, as Paimon's own classes read them: a row is an object of
 * the fields of its serializer, with values as in {@link Values}.
 */
final class Metadata {

    private final FileStoreTable table;
    private final ManifestList lists;
    private final ManifestFile manifests;

    Metadata(FileStoreTable table) {
        this.table = table;
        this.lists = table.store().manifestListFactory().create();
        this.manifests = table.store().manifestFileFactory().create();
    }

    /** {snapshot id: {base, delta, changelog: [manifest, with its entries], index: [entry]}}. */
    ObjectNode describe() throws Exception {
        ObjectNode described = Values.NODES.objectNode();
        for (Iterator<Snapshot> i = table.snapshotManager().snapshots(); i.hasNext(); ) {
            Snapshot snapshot = i.next();
            ObjectNode parts = described.putObject(String.valueOf(snapshot.id()));
            String[] names = {
                snapshot.baseManifestList(),
                snapshot.deltaManifestList(),
                snapshot.changelogManifestList()
            };
            Long[] sizes = {
                snapshot.baseManifestListSize(),
                snapshot.deltaManifestListSize(),
                snapshot.changelogManifestListSize()
            };
            String[] kinds = {"base", "delta", "changelog"};
            for (int kind = 0; kind < kinds.length; kind++) {
                if (names[kind] != null) {
                    parts.set(kinds[kind], describe(lists.read(names[kind], sizes[kind])));
                }
            }
            if (snapshot.indexManifest() != null) {
                parts.set(
                        "index",
                        rows(
                                table.store().newIndexFileHandler()
                                        .readManifest(snapshot.indexManifest()),
                                new IndexManifestEntrySerializer(),
                                IndexManifestEntry.SCHEMA));
            }
        }
        return described;
    }

    private ArrayNode describe(List<ManifestFileMeta> metas) {
        ArrayNode described =
                rows(metas, new ManifestFileMetaSerializer(), ManifestFileMeta.SCHEMA);
        for (int i = 0; i < metas.size(); i++) {
            List<ManifestEntry> entries =
                    manifests.read(metas.get(i).fileName(), metas.get(i).fileSize());
            ArrayNode entryRows =
                    rows(entries, new ManifestEntrySerializer(), ManifestEntry.SCHEMA);
            for (int j = 0; j < entries.size(); j++) {
                ((ObjectNode) entryRows.get(j)).set("decoded", decode(entries.get(j)));
            }
            ((ObjectNode) described.get(i)).set("entries", entryRows);
        }
        return described;
    }

    /** The rows that an entry holds as bytes: what they say of each column. */
    private ObjectNode decode(ManifestEntry entry) {
        DataFileMeta file = entry.file();
        TableSchema schema = table.schemaManager().schema(file.schemaId());
        RowType key = new RowType(schema.trimmedPrimaryKeysFields());
        RowType values = schema.logicalRowType();
        if (file.valueStatsCols() != null) {
            values = values.project(file.valueStatsCols());
        }
        ObjectNode decoded = Values.NODES.objectNode();
        decoded.set("partition", decode(entry.partition(), schema.logicalPartitionType()));
        if (key.getFieldCount() > 0) {
            decoded.set("min key", decode(file.minKey(), key));
            decoded.set("max key", decode(file.maxKey(), key));
            decoded.set("key stats", decode(file.keyStats(), key));
        }
        decoded.set("value stats", decode(file.valueStats(), values));
        return decoded;
    }

    private static ObjectNode decode(SimpleStats stats, RowType type) {
        ObjectNode decoded = Values.NODES.objectNode();
        decoded.set("min", decode(stats.minValues(), type));
        decoded.set("max", decode(stats.maxValues(), type));
        return decoded;
    }

    private static ObjectNode decode(BinaryRow row, RowType type) {
        ObjectNode decoded = Values.NODES.objectNode();
        for (int i = 0; i < type.getFieldCount(); i++) {
            DataField field = type.getFields().get(i);
            decoded.set(field.name(), Values.encode(row, i, field.type()));
        }
        return decoded;
    }

    private static <T> ArrayNode rows(
            List<T> records, ObjectSerializer<T> serializer, RowType schema) {
        RowType type = VersionedObjectSerializer.versionType(schema);
        ArrayNode rows = Values.NODES.arrayNode();
        for (T record : records) {
            InternalRow row = serializer.toRow(record);
            ObjectNode fields = rows.addObject();
            for (int i = 0; i < type.getFieldCount(); i++) {
                DataField field = type.getFields().get(i);
                fields.set(field.name(), Values.encode(row, i, field.type()));
            }
        }
        return rows;
    }
}
