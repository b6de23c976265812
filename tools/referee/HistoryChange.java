package referee;

import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.table.Table;

/** Tags, branches and rollbacks of a table. */
final class HistoryChange {

    private HistoryChange() {}

    /** {action, name?, tag?, snapshot?}: changes the history of a table. */
    static JsonNode apply(Table table, JsonNode request) {
        String name = request.path("name").asText();
        switch (request.get("action").asText()) {
            case "tag":
                table.createTag(name);
                break;
            case "branch":
                if (request.hasNonNull("tag")) {
                    table.createBranch(name, request.get("tag").asText());
                } else {
                    table.createBranch(name);
                }
                break;
            case "delete-branch":
                table.deleteBranch(name);
                break;
            case "fast-forward":
                table.fastForward(name);
                break;
            case "rollback-to-snapshot":
                table.rollbackTo(request.get("snapshot").asLong());
                break;
            case "rollback-to-tag":
                table.rollbackTo(name);
                break;
            default:
                throw new IllegalArgumentException("no action " + request.get("action"));
        }
        return Values.NODES.nullNode();
    }
}
