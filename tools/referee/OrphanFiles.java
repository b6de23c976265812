package referee;

import org.apache.paimon.fs.Path;
import org.apache.paimon.operation.LocalOrphanFilesClean;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.table.FileStoreTable;

/** Which files Paimon takes for orphans. */
final class OrphanFiles {

    private OrphanFiles() {}

    /** {dryRun}: removes the orphan files of a table, however young. */
    static JsonNode remove(FileStoreTable table, JsonNode request) throws Exception {
        boolean dryRun = request.get("dryRun").asBoolean();
        LocalOrphanFilesClean clean = new LocalOrphanFilesClean(table, Long.MAX_VALUE, dryRun);
        ArrayNode paths = Values.NODES.arrayNode();
        for (Path path : clean.clean().getDeletedFilesPath()) {
            paths.add(path.toUri().getPath());
        }
        return paths;
    }
}
