#include "app/session/checkpoint_work.h"
#include "app/session/workspace.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"

// Edits of a checkpoint that another comparison would replace.

namespace headscope::test {

using namespace headscope::app;

TEST_CASE("a text alone is not an unsaved edit", "[checkpoint]") {
    SessionState session;
    Workspace workspace{session, {}, {.device = "cpu", .wake = {}, .changed = [] {}, .drop_baseline = [] {}}};
    Progress progress;
    workspace.open(open_model(checkpoint::model_folder("pocket"), {"The cat sat on the"}, 0, progress));
    const auto settle = [&] {
        workspace.settle();
        workspace.take_results();
    };
    settle();
    const auto unsaved = [&](const DocumentPtr& saved) {
        return has_unsaved_edits(*session.document->part(), saved);
    };
    const DocumentPtr opened = session.document;
    workspace.session().act(TypePrompt{"Once upon a time"});
    settle();
    CHECK_FALSE(unsaved(opened));
    workspace.run(SetGain{3, 0});
    settle();
    CHECK(unsaved(opened));
    CHECK(unsaved(nullptr));
    const DocumentPtr edited = session.document;
    workspace.session().act(TypePrompt{"Lily had a red ball."});
    settle();
    CHECK_FALSE(unsaved(edited));
}

} // namespace headscope::test
