package referee;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.DataGetters;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.GenericArray;
import org.apache.paimon.data.GenericMap;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalArray;
import org.apache.paimon.data.InternalMap;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.data.variant.GenericVariant;
import org.apache.paimon.data.variant.Variant;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypeRoot;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.types.DecimalType;
import org.apache.paimon.types.MapType;
import org.apache.paimon.types.MultisetType;
import org.apache.paimon.types.RowType;
import org.apache.paimon.utils.InternalRowUtils;
import org.apache.paimon.utils.JsonSerdeUtil;

/**
 * Values as JSON, without loss: the encoding of the golden answers.
 *
 * <p>Integers and booleans stay; FLOAT and DOUBLE too, but NaN and infinities become text. DECIMAL,
 * DATE, TIME and timestamps are ISO text, a timestamp with six digits of fraction or more and, if it
 * has a local time zone, in UTC with a Z. Bytes are in base64. An ARRAY is a list, a MAP a list of
 * pairs in no order, a MULTISET a MAP of its elements to their counts, a ROW an object.
 */
final class Values {

    static final JsonNodeFactory NODES = JsonNodeFactory.withExactBigDecimals(true);

    private Values() {}

    static Object decode(JsonNode value, DataType type) {
        if (value.isNull()) {
            return null;
        }
        String text = value.asText();
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return value.asBoolean();
            case TINYINT:
                return (byte) value.asInt();
            case SMALLINT:
                return (short) value.asInt();
            case INTEGER:
                return value.asInt();
            case BIGINT:
                return value.asLong();
            case FLOAT:
                return Float.valueOf(text);
            case DOUBLE:
                return Double.valueOf(text);
            case DECIMAL:
                DecimalType decimal = (DecimalType) type;
                return Decimal.fromBigDecimal(
                        new BigDecimal(text), decimal.getPrecision(), decimal.getScale());
            case CHAR:
            case VARCHAR:
                return BinaryString.fromString(text);
            case BINARY:
            case VARBINARY:
                return Base64.getDecoder().decode(text);
            case DATE:
                return (int) LocalDate.parse(text).toEpochDay();
            case TIME_WITHOUT_TIME_ZONE:
                return (int) (LocalTime.parse(text).toNanoOfDay() / 1_000_000);
            case TIMESTAMP_WITHOUT_TIME_ZONE:
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return Timestamp.fromLocalDateTime(LocalDateTime.parse(text.replace("Z", "")));
            case VARIANT:
                return GenericVariant.fromJson(value.toString());
            default:
                return decodeNested(value, type);
        }
    }

    private static Object decodeNested(JsonNode value, DataType type) {
        switch (type.getTypeRoot()) {
            case ARRAY:
                Object[] elements = new Object[value.size()];
                for (int i = 0; i < elements.length; i++) {
                    elements[i] = decode(value.get(i), ((ArrayType) type).getElementType());
                }
                return new GenericArray(elements);
            case MAP:
            case MULTISET:
                MapType entries = asMap(type);
                Map<Object, Object> map = new LinkedHashMap<>();
                for (JsonNode pair : value) {
                    map.put(
                            decode(pair.get(0), entries.getKeyType()),
                            decode(pair.get(1), entries.getValueType()));
                }
                return new GenericMap(map);
            case ROW:
                RowType fields = (RowType) type;
                GenericRow row = new GenericRow(fields.getFieldCount());
                for (int i = 0; i < fields.getFieldCount(); i++) {
                    DataField field = fields.getFields().get(i);
                    row.setField(i, decode(value.get(field.name()), field.type()));
                }
                return row;
            default:
                throw new IllegalArgumentException("no values of type " + type);
        }
    }

    static JsonNode encode(DataGetters values, int index, DataType type) {
        if (values.isNullAt(index)) {
            return NODES.nullNode();
        }
        Object value = InternalRowUtils.get(values, index, type);
        switch (type.getTypeRoot()) {
            case BOOLEAN:
                return NODES.booleanNode((Boolean) value);
            case TINYINT:
            case SMALLINT:
            case INTEGER:
            case BIGINT:
                return NODES.numberNode(((Number) value).longValue());
            case FLOAT:
            case DOUBLE:
                double number = ((Number) value).doubleValue();
                boolean isFinite = !Double.isNaN(number) && !Double.isInfinite(number);
                return isFinite ? NODES.numberNode(number) : NODES.textNode("" + number);
            case DECIMAL:
                return NODES.textNode(((Decimal) value).toBigDecimal().toPlainString());
            case CHAR:
            case VARCHAR:
                return NODES.textNode(value.toString());
            case BINARY:
            case VARBINARY:
                return NODES.textNode(Base64.getEncoder().encodeToString((byte[]) value));
            case DATE:
                return NODES.textNode(LocalDate.ofEpochDay((Integer) value).toString());
            case TIME_WITHOUT_TIME_ZONE:
                LocalTime time = LocalTime.ofNanoOfDay((Integer) value * 1_000_000L);
                return NODES.textNode(withFraction("" + time.withNano(0), time.getNano(), 3));
            case TIMESTAMP_WITHOUT_TIME_ZONE:
                return NODES.textNode(timestampText((Timestamp) value));
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
                return NODES.textNode(timestampText((Timestamp) value) + "Z");
            case VARIANT:
                return JsonSerdeUtil.fromJson(((Variant) value).toJson(), JsonNode.class);
            default:
                return encodeNested(value, type);
        }
    }

    private static JsonNode encodeNested(Object value, DataType type) {
        switch (type.getTypeRoot()) {
            case ARRAY:
                InternalArray elements = (InternalArray) value;
                ArrayNode list = NODES.arrayNode();
                for (int i = 0; i < elements.size(); i++) {
                    list.add(encode(elements, i, ((ArrayType) type).getElementType()));
                }
                return list;
            case MAP:
            case MULTISET:
                MapType entries = asMap(type);
                InternalMap map = (InternalMap) value;
                ArrayNode pairs = NODES.arrayNode();
                for (int i = 0; i < map.size(); i++) {
                    JsonNode key = encode(map.keyArray(), i, entries.getKeyType());
                    JsonNode entry = encode(map.valueArray(), i, entries.getValueType());
                    pairs.addArray().add(key).add(entry);
                }
                return pairs;
            case ROW:
                RowType fields = (RowType) type;
                ObjectNode row = NODES.objectNode();
                for (int i = 0; i < fields.getFieldCount(); i++) {
                    DataField field = fields.getFields().get(i);
                    row.set(field.name(), encode((InternalRow) value, i, field.type()));
                }
                return row;
            default:
                throw new IllegalArgumentException("no values of type " + type);
        }
    }

    private static MapType asMap(DataType type) {
        if (type.getTypeRoot() == DataTypeRoot.MAP) {
            return (MapType) type;
        }
        return new MapType(((MultisetType) type).getElementType(), DataTypes.INT().notNull());
    }

    private static String timestampText(Timestamp timestamp) {
        LocalDateTime time = timestamp.toLocalDateTime();
        String whole = time.toLocalDate() + "T" + time.toLocalTime().withNano(0);
        return withFraction(whole, time.getNano(), 6);
    }

    /** Appends seconds where Java left them out, and the fraction without zeros past `digits`. */
    private static String withFraction(String text, int nanos, int digits) {
        String whole = text.matches(".*\\d\\d:\\d\\d:\\d\\d") ? text : text + ":00";
        String fraction = String.format("%09d", nanos);
        int end = fraction.length();
        while (end > digits && fraction.charAt(end - 1) == '0') {
            end--;
        }
        return whole + "." + fraction.substring(0, end);
    }
}
