// Writes tests/format/file_index_vectors.jsonl with Paimon's own writers; the command is in that file's first line.

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.deletionvectors.Bitmap64DeletionVector;
import org.apache.paimon.deletionvectors.BitmapDeletionVector;
import org.apache.paimon.deletionvectors.DeletionVector;
import org.apache.paimon.fileindex.FileIndexFormat;
import org.apache.paimon.fileindex.FileIndexWriter;
import org.apache.paimon.fileindex.FileIndexer;
import org.apache.paimon.options.Options;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypes;

public class FileIndexVectors {

    record Case(String name, DataType type, Function<Object, Object> convert, Object[] values) {}

    static Object[] longs(long... values) {
        Object[] out = new Object[values.length + 2];
        for (int i = 0; i < values.length; i++) {
            out[i] = values[i];
        }
        out[values.length + 1] = values[0];
        return out;
    }

    static final Function<Object, Object> BYTE = v -> ((Long) v).byteValue();
    static final Function<Object, Object> SHORT = v -> ((Long) v).shortValue();
    static final Function<Object, Object> INT = v -> ((Long) v).intValue();
    static final Function<Object, Object> SAME = v -> v;
    static final Function<Object, Object> STRING = v -> BinaryString.fromString((String) v);
    static final Function<Object, Object> BYTES = v -> ((String) v).getBytes(java.nio.charset.StandardCharsets.UTF_8);
    static final Function<Object, Object> MILLIS = v -> Timestamp.fromEpochMillis((Long) v);
    static final Function<Object, Object> MICROS = v -> Timestamp.fromMicros((Long) v);
    static final Function<Object, Object> FLOAT = v -> ((Double) v).floatValue();
    static final Function<Object, Object> BOOL = v -> v;

    static Function<Object, Object> decimal(int precision, int scale) {
        return v -> Decimal.fromUnscaledLong((Long) v, precision, scale);
    }

    static List<Case> cases() {
        Object[] texts = {"red", "green", null, "", "red", "bl\u00fce", "\uD83D\uDE00 smile", "a rather longer text than eight bytes", null, "zebra"};
        Object[] doubles = {1.5, -0.0, 0.0, Double.NaN, null, -3.25, 1.5, Double.POSITIVE_INFINITY, 1e10};
        Object[] many = new Object[60];
        Object[] manyTexts = new Object[60];
        for (int i = 0; i < 60; i++) {
            many[i] = i % 11 == 10 ? null : (Object) (long) ((i * 37) % 50 * 1000 - 20000);
            manyTexts[i] = i % 13 == 12 ? null : "key" + (i * 29) % 47;
        }
        Object[] nothing = {null, null, null};
        return List.of(
                new Case("boolean", DataTypes.BOOLEAN(), BOOL, new Object[] {true, false, null, true}),
                new Case("boolean all true", DataTypes.BOOLEAN(), BOOL, new Object[] {true, true}),
                new Case("tinyint", DataTypes.TINYINT(), BYTE, longs(1, -1, 127, -128, 0)),
                new Case("smallint", DataTypes.SMALLINT(), SHORT, longs(1, -1, 32767, -32768, 0)),
                new Case("int", DataTypes.INT(), INT, longs(1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 0, 7)),
                new Case("bigint", DataTypes.BIGINT(), SAME, longs(1, -1, Long.MAX_VALUE, -Long.MAX_VALUE, 0, 7)),
                new Case("bigint many", DataTypes.BIGINT(), SAME, many),
                new Case("bigint one value", DataTypes.BIGINT(), SAME, new Object[] {5L, 5L, null}),
                new Case("bigint nothing", DataTypes.BIGINT(), SAME, nothing),
                new Case("bigint no rows", DataTypes.BIGINT(), SAME, new Object[0]),
                new Case("float", DataTypes.FLOAT(), FLOAT, doubles),
                new Case("double", DataTypes.DOUBLE(), SAME, doubles),
                new Case("decimal", DataTypes.DECIMAL(18, 2), decimal(18, 2), longs(150, -150, 999999999999999999L, 0)),
                new Case("decimal wide", DataTypes.DECIMAL(30, 2), decimal(30, 2), longs(150, -150, 0)),
                new Case("char", DataTypes.CHAR(40), STRING, texts),
                new Case("varchar", DataTypes.VARCHAR(40), STRING, texts),
                new Case("string", DataTypes.STRING(), STRING, texts),
                new Case("string many", DataTypes.STRING(), STRING, manyTexts),
                new Case("string nothing", DataTypes.STRING(), STRING, nothing),
                new Case("bytes", DataTypes.BYTES(), BYTES, texts),
                new Case("date", DataTypes.DATE(), INT, longs(19000, -1, 0, 20000)),
                new Case("time", DataTypes.TIME(3), INT, longs(0, 86399999, 3600000)),
                new Case("timestamp 0", DataTypes.TIMESTAMP(0), MILLIS, longs(1700000000000L, -1000, 0)),
                new Case("timestamp 3", DataTypes.TIMESTAMP(3), MILLIS, longs(1700000000123L, -1, 0)),
                new Case("timestamp 6", DataTypes.TIMESTAMP(6), MICROS, longs(1700000000123456L, -1, 0)),
                new Case("timestamp 9", DataTypes.TIMESTAMP(9), MICROS, longs(1700000000123456L, -1, 0)),
                new Case("timestamp_ltz 6", DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE(6), MICROS, longs(1700000000123456L, -1, 0)));
    }

    static final Object[][] INDEXES = {
        {"bloom-filter", "", Map.of("items", "20", "fpp", "0.01")},
        {"bitmap", "v1", Map.of("version", "1")},
        {"bitmap", "v2", Map.of("version", "2")},
        {"bitmap", "v2 small blocks", Map.of("version", "2", "index-block-size", "128b")},
        {"bsi", "", Map.of()},
        {"range-bitmap", "", Map.of()},
        {"range-bitmap", "small chunks", Map.of("chunk-size", "32b")},
    };

    public static void main(String[] args) throws Exception {
        for (Case one : cases()) {
            for (Object[] index : INDEXES) {
                byte[] bytes;
                try {
                    @SuppressWarnings("unchecked")
                    Options options = new Options((Map<String, String>) index[2]);
                    FileIndexWriter writer =
                            FileIndexer.create((String) index[0], one.type(), options).createWriter();
                    for (Object value : one.values()) {
                        writer.writeRecord(value == null ? null : one.convert().apply(value));
                    }
                    bytes = writer.serializedBytes();
                } catch (Exception e) {
                    System.err.println(one.name() + " " + index[0] + " " + index[1] + ": " + e);
                    continue;
                }
                System.out.println(
                        "{\"case\": " + text(one.name()) + ", \"type\": " + text(one.type().toString())
                                + ", \"index\": " + text((String) index[0]) + ", \"variant\": " + text((String) index[1])
                                + ", \"values\": " + list(one.values()) + ", \"hex\": \"" + hex(bytes) + "\"}");
            }
        }
        container();
        vector("32-bit", new BitmapDeletionVector(), 0, 3, 7, 8, 9, 10, 11, 12, 13, 99);
        vector("32-bit scattered", new BitmapDeletionVector(), 1, 70000, 131072);
        vector("64-bit", new Bitmap64DeletionVector(), 0, 3, 7, 8, 9, 10, 11, 12, 13, 99);
        vector("64-bit scattered", new Bitmap64DeletionVector(), 1, 70000, 131072);
        vector("64-bit beyond", new Bitmap64DeletionVector(), 5, (1L << 32) + 6);
    }

    static void container() throws Exception {
        FileIndexWriter color = FileIndexer.create("bitmap", DataTypes.STRING(), new Options()).createWriter();
        FileIndexWriter bloom = FileIndexer.create("bloom-filter", DataTypes.STRING(), new Options(Map.of("items", "20"))).createWriter();
        for (String value : new String[] {"a", "b", "a"}) {
            color.writeRecord(BinaryString.fromString(value));
            bloom.writeRecord(BinaryString.fromString(value));
        }
        Map<String, byte[]> both = new LinkedHashMap<>();
        both.put("bitmap", color.serializedBytes());
        both.put("bloom-filter", bloom.serializedBytes());
        Map<String, Map<String, byte[]>> columns = new LinkedHashMap<>();
        columns.put("c\u00f6l\uD83D\uDE00\u0000r", both);
        Map<String, byte[]> none = new LinkedHashMap<>();
        none.put("bitmap", null);
        columns.put("m[k]", none);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        FileIndexFormat.Writer writer = FileIndexFormat.createWriter(out);
        writer.writeColumnIndexes(columns);
        writer.close();
        System.out.println("{\"case\": \"container\", \"hex\": \"" + hex(out.toByteArray()) + "\"}");
    }

    static void vector(String name, DeletionVector vector, long... positions) throws Exception {
        List<Object> values = new ArrayList<>();
        for (long position : positions) {
            vector.delete(position);
            values.add(position);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        int length = vector.serializeTo(new DataOutputStream(out));
        System.out.println(
                "{\"case\": " + text("deletion vector " + name) + ", \"length\": " + length + ", \"values\": "
                        + list(values.toArray()) + ", \"hex\": \"" + hex(out.toByteArray()) + "\"}");
    }

    static String list(Object[] values) {
        StringBuilder out = new StringBuilder("[");
        for (Object value : values) {
            out.append(out.length() == 1 ? "" : ", ");
            if (value instanceof String || value instanceof Double) {
                out.append(text(value.toString()));
            } else {
                out.append(value);
            }
        }
        return out.append("]").toString();
    }

    static String text(String value) {
        return "\"" + value.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    static String hex(byte[] bytes) {
        return java.util.HexFormat.of().formatHex(bytes);
    }
}
