package referee;

import java.util.List;
import java.util.Objects;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.reader.RecordReaderIterator;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.table.source.StreamTableScan;

/** Reads what a stream reads up to the newest snapshot. */
final class ChangeStream {

    private ChangeStream() {}

    /**
     * {table, from?, options?}: the rows from a snapshot on, whether it is there or only its
     * changelog, or from where the options say.
     *
     * @return [["+I", value, ...], ...]
     */
    static JsonNode rows(Table table, JsonNode request) throws Exception {
        ReadBuilder builder = table.newReadBuilder();
        StreamTableScan scan = builder.newStreamScan();
        if (request.hasNonNull("from")) {
            scan.restore(request.get("from").asLong());
        }
        ArrayNode rows = Values.NODES.arrayNode();
        Long before;
        do {
            before = scan.checkpoint();
            List<Split> splits = scan.plan().splits();
            try (RecordReaderIterator<InternalRow> found =
                    new RecordReaderIterator<>(builder.newRead().createReader(splits))) {
                while (found.hasNext()) {
                    rows.add(Referee.fromRow(found.next(), table.rowType()));
                }
            }
        } while (!Objects.equals(scan.checkpoint(), before));
        return rows;
    }
}
