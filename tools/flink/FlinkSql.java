package flink;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;

/**
 * Flink's SQL on a mini cluster in this process, which answers: one JSON request a line on stdin, one
 * JSON answer a line on stdout, until stdin ends. A request is {"operation": "sql", "sql": ...}, to be
 * carried out in batch mode, or {"operation": "follow", "sql": ..., "count": ...}, to be read as a
 * stream until so many rows have come; the answer is {"value": {columns, rows}} or {"error": "stack
 * trace"}. Rows have their kind first; values are encoded as in the golden answers. What is created
 * in one mode but in a catalog of Paimon is unknown in the other.
 */
public final class FlinkSql {

    private static final JsonNodeFactory NODES = JsonNodeFactory.withExactBigDecimals(true);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int FOLLOWED_SECONDS = 60;

    private FlinkSql() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        Configuration configuration = configuration();
        MiniCluster cluster = start(configuration);
        configuration.setString("execution.target", "remote");
        configuration.setString("rest.port", "" + cluster.getRestAddress().get().getPort());
        EnvironmentSettings.Builder settings =
                EnvironmentSettings.newInstance().withConfiguration(configuration);
        TableEnvironment batch = TableEnvironment.create(settings.inBatchMode().build());
        TableEnvironment stream = TableEnvironment.create(settings.inStreamingMode().build());
        BufferedReader requests =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            answers.println(JSON.writeValueAsString(answer(line, batch, stream)));
            answers.flush();
        }
        // Threads of the cluster would keep the process alive.
        System.exit(0);
    }

    /** One cluster for all statements: starting one for each would take longer than the rest. */
    private static MiniCluster start(Configuration configuration) throws Exception {
        MiniCluster cluster =
                new MiniCluster(
                        new MiniClusterConfiguration.Builder()
                                .setConfiguration(configuration)
                                .setNumTaskManagers(1)
                                .setNumSlotsPerTaskManager(4)
                                .build());
        cluster.start();
        return cluster;
    }

    /** Little memory, one task a step, and every port on this machine alone. */
    private static Configuration configuration() {
        Configuration configuration = new Configuration();
        Map.ofEntries(
                        Map.entry("parallelism.default", "1"),
                        Map.entry("taskmanager.memory.network.min", "32m"),
                        Map.entry("taskmanager.memory.network.max", "32m"),
                        Map.entry("taskmanager.memory.managed.size", "128m"),
                        Map.entry("rest.address", "127.0.0.1"),
                        Map.entry("rest.bind-address", "127.0.0.1"),
                        Map.entry("rest.bind-port", "0"),
                        Map.entry("jobmanager.bind-host", "127.0.0.1"),
                        Map.entry("taskmanager.bind-host", "127.0.0.1"),
                        Map.entry("table.local-time-zone", "UTC"),
                        Map.entry("table.dml-sync", "true"))
                .forEach(configuration::setString);
        return configuration;
    }

    /** Whatever goes wrong is an answer too: the process that asked decides what it means. */
    private static ObjectNode answer(
            String line, TableEnvironment batch, TableEnvironment stream) {
        ObjectNode answer = NODES.objectNode();
        try {
            JsonNode request = JSON.readTree(line);
            boolean isFollowed = request.get("operation").asText().equals("follow");
            TableResult result =
                    (isFollowed ? stream : batch).executeSql(request.get("sql").asText());
            if (isFollowed) {
                cancelLate(result);
            }
            int count = isFollowed ? request.get("count").asInt() : Integer.MAX_VALUE;
            answer.set("value", collect(result, count));
        } catch (Throwable problem) {
            StringWriter trace = new StringWriter();
            problem.printStackTrace(new PrintWriter(trace));
            answer.put("error", trace.toString());
        }
        return answer;
    }

    /** A stream that stays silent would be waited for without end. */
    private static void cancelLate(TableResult result) {
        CompletableFuture.delayedExecutor(FOLLOWED_SECONDS, TimeUnit.SECONDS)
                .execute(() -> result.getJobClient().ifPresent(JobClient::cancel));
    }

    private static ObjectNode collect(TableResult result, int count) throws Exception {
        List<String> names = result.getResolvedSchema().getColumnNames();
        ArrayNode rows = NODES.arrayNode();
        try (CloseableIterator<Row> found = result.collect()) {
            while (rows.size() < count && found.hasNext()) {
                Row row = found.next();
                ArrayNode values = rows.addArray().add(row.getKind().shortString());
                for (int i = 0; i < row.getArity(); i++) {
                    values.add(encode(row.getField(i)));
                }
            }
        }
        ArrayNode columns = NODES.arrayNode();
        names.forEach(columns::add);
        return NODES.objectNode().<ObjectNode>set("columns", columns).set("rows", rows);
    }

    private static JsonNode encode(Object value) {
        if (value == null) {
            return NODES.nullNode();
        } else if (value instanceof Boolean) {
            return NODES.booleanNode((Boolean) value);
        } else if (value instanceof Float || value instanceof Double) {
            double number = ((Number) value).doubleValue();
            boolean isFinite = !Double.isNaN(number) && !Double.isInfinite(number);
            return isFinite ? NODES.numberNode(number) : NODES.textNode("" + number);
        } else if (value instanceof java.math.BigDecimal) {
            return NODES.textNode(((java.math.BigDecimal) value).toPlainString());
        } else if (value instanceof Number) {
            return NODES.numberNode(((Number) value).longValue());
        } else if (value instanceof byte[]) {
            return NODES.textNode(Base64.getEncoder().encodeToString((byte[]) value));
        } else if (value instanceof LocalTime) {
            return NODES.textNode(timeText((LocalTime) value, 3));
        } else if (value instanceof LocalDateTime) {
            return NODES.textNode(timestampText((LocalDateTime) value));
        } else if (value instanceof Instant) {
            LocalDateTime time = LocalDateTime.ofInstant((Instant) value, ZoneOffset.UTC);
            return NODES.textNode(timestampText(time) + "Z");
        }
        return encodeNested(value);
    }

    private static JsonNode encodeNested(Object value) {
        if (value instanceof Object[]) {
            ArrayNode list = NODES.arrayNode();
            for (Object element : (Object[]) value) {
                list.add(encode(element));
            }
            return list;
        } else if (value instanceof Map) {
            ArrayNode pairs = NODES.arrayNode();
            ((Map<?, ?>) value)
                    .forEach((key, entry) -> pairs.addArray().add(encode(key)).add(encode(entry)));
            return pairs;
        } else if (value instanceof Row) {
            Row row = (Row) value;
            ObjectNode fields = NODES.objectNode();
            for (String name : row.getFieldNames(true)) {
                fields.set(name, encode(row.getField(name)));
            }
            return fields;
        }
        // Text, and a date, whose text is ISO's.
        return NODES.textNode(value.toString());
    }

    private static String timestampText(LocalDateTime time) {
        return time.toLocalDate() + "T" + timeText(time.toLocalTime(), 6);
    }

    /** ISO text with seconds, and a fraction of `digits` digits or as many more as it needs. */
    private static String timeText(LocalTime time, int digits) {
        String fraction = String.format("%09d", time.getNano());
        int end = fraction.length();
        while (end > digits && fraction.charAt(end - 1) == '0') {
            end--;
        }
        String whole =
                String.format("%02d:%02d:%02d", time.getHour(), time.getMinute(), time.getSecond());
        return whole + "." + fraction.substring(0, end);
    }
}
