package referee;

import java.time.Duration;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.paimon.shade.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.tag.Tag;
import org.apache.paimon.utils.Pair;

/** Tags that Paimon itself makes, changes and deletes. */
final class Tags {

    private Tags() {}

    /**
     * {action, tag, target, snapshot, seconds}: of the last three each action takes its own, or none.
     *
     * @return [[name, snapshot id, local time of its making or null, seconds that it is kept or
     *     null], ...] after it
     */
    static JsonNode carryOut(FileStoreTable table, JsonNode request) throws Exception {
        String tag = request.path("tag").asText();
        Duration retained =
                request.hasNonNull("seconds")
                        ? Duration.ofSeconds(request.get("seconds").asLong())
                        : null;
        switch (request.get("action").asText()) {
            case "create":
                table.createTag(tag, request.get("snapshot").asLong(), retained);
                break;
            case "replace":
                table.replaceTag(tag, request.get("snapshot").asLong(), retained);
                break;
            case "rename":
                table.renameTag(tag, request.get("target").asText());
                break;
            case "delete":
                table.deleteTags(tag);
                break;
            case "automatic":
                table.newTagAutoManager().run();
                break;
            case "list":
                break;
            default:
                throw new IllegalArgumentException("no action of tags: " + request.get("action"));
        }
        return list(table);
    }

    private static JsonNode list(FileStoreTable table) throws Exception {
        ArrayNode tags = Values.NODES.arrayNode();
        for (Pair<Tag, String> each : table.tagManager().tagObjects()) {
            Tag tag = each.getLeft();
            ArrayNode told = tags.addArray().add(each.getRight()).add(tag.id());
            told.add(tag.getTagCreateTime() == null ? null : tag.getTagCreateTime().toString());
            told.add(
                    tag.getTagTimeRetained() == null
                            ? null
                            : Long.valueOf(tag.getTagTimeRetained().getSeconds()));
        }
        return tags;
    }
}
