package hdfs;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.MiniDFSNNTopology;

/**
 * HDFS in this process, on this machine alone: one JSON answer a line on stdout to each line on stdin,
 * until stdin ends. Arguments are its directory and how many name nodes it has, one or two; of two the
 * first is active until it is asked to "fail_over". Every answer is {"value": {"ports": [...]}}, the name
 * nodes' ports, or {"error": "stack trace"}.
 */
public final class Hdfs {

    private Hdfs() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        int nameNodes = Integer.parseInt(arguments[1]);
        MiniDFSCluster cluster = start(arguments[0], nameNodes);
        BufferedReader requests =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            answers.println(answer(line, cluster, nameNodes));
        }
        // Shutting it down in order takes seconds, and nothing in it is to be kept.
        Runtime.getRuntime().halt(0);
    }

    private static MiniDFSCluster start(String directory, int nameNodes) throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, directory);
        configuration.setBoolean("dfs.permissions.enabled", false);
        MiniDFSNNTopology topology =
                nameNodes == 1
                        ? MiniDFSNNTopology.simpleSingleNN(0, 0)
                        : MiniDFSNNTopology.simpleHATopology(nameNodes);
        MiniDFSCluster cluster =
                new MiniDFSCluster.Builder(configuration).nnTopology(topology).numDataNodes(1).build();
        if (nameNodes > 1) {
            cluster.transitionToActive(0);
        }
        cluster.waitActive();
        return cluster;
    }

    private static String answer(String request, MiniDFSCluster cluster, int nameNodes) {
        try {
            if (request.contains("\"fail_over\"")) {
                cluster.transitionToStandby(0);
                cluster.transitionToActive(1);
            }
            String ports =
                    IntStream.range(0, nameNodes)
                            .mapToObj(index -> "" + cluster.getNameNodePort(index))
                            .collect(Collectors.joining(", "));
            return "{\"value\": {\"ports\": [" + ports + "]}}";
        } catch (Exception failure) {
            StringWriter trace = new StringWriter();
            failure.printStackTrace(new PrintWriter(trace));
            return "{\"error\": \"" + trace.toString().replaceAll("[\\\\\"\\s]+", " ") + "\"}";
        }
    }
}
