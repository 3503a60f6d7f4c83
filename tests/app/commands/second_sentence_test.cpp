#include "app/commands/command.h"
#include "app/commands/notice.h"
#include "core/base/error.h"
#include "tests/app/support/documents.h"
#include "tests/catch.h"

using namespace headscope;
using namespace headscope::app;
using headscope::test::first_lesson;

TEST_CASE("a second sentence is switched on, typed and switched off") {
    DocumentPtr document = first_lesson();
    const DocumentPtr built = document;
    const Command on = SetKvSentence{"A dog ran"};
    CHECK(name_of(*document, on).label == "type the second sentence");
    document = app::apply(document, on);
    CHECK(document->problem.cross());
    CHECK(document->problem.kv_tokens == std::vector<std::string>{"A", "dog", "ran"});
    CHECK(document->problem.dims.Tq == 4);
    CHECK(document->problem.dims.Tk == 3);
    CHECK_THAT(notice_of(*built, on, *document), Catch::Contains("W_K and W_V read the second sentence"));
    CHECK(project::recipe_title(document->recipe) == "The cat sat down / A dog ran");

    const Command typed = SetKvSentence{"A dog ran off"};
    const DocumentPtr longer = app::apply(document, typed);
    CHECK(longer->problem.dims.Tk == 4);
    CHECK(notice_of(*document, typed, *longer).empty());
    CHECK(longer->recipe.sentence == "The cat sat down");
    // The first sentence leaves the second alone.
    CHECK(app::apply(longer, SetSentence{"Birds sing"})->recipe.kv_sentence == "A dog ran off");

    for (const char* nothing : {"", "  "})
        CHECK_THROWS_WITH(app::apply(longer, SetKvSentence{nothing}), Catch::Contains("no word"));

    const Command off = SetKvSentence{};
    CHECK(name_of(*longer, off).label == "self-attention");
    const DocumentPtr self = app::apply(longer, off);
    CHECK_FALSE(self->problem.cross());
    CHECK(self->problem.dims.Tk == 4);
    CHECK_THAT(notice_of(*longer, off, *self), Catch::Contains("one sentence again"));
}

TEST_CASE("edits of x_kv are dropped with its words, those of W_K stay") {
    DocumentPtr document = app::apply(first_lesson(), SetKvSentence{"A dog ran"});
    document = app::apply(document, EditCell{{TensorId::x_kv, {0, 1, 2, 0}}, 3});
    document = app::apply(document, EditCell{{TensorId::W_K, {1, 2, 0, 0}}, 4});
    CHECK(document->problem.x_kv->at(0, 1, 2) == 3);
    CHECK(app::apply(document, SetSentence{"Birds sing"})->problem.x_kv->at(0, 1, 2) == 3);
    document = app::apply(document, SetKvSentence{"The cat sat"});
    CHECK(document->problem.x_kv->at(0, 1, 2) != 3);
    CHECK(document->problem.weights.W_K->at(1, 2) == 4);
}

TEST_CASE("a mask by places says from where it counts") {
    const DocumentPtr document = first_lesson(project::MaskChoice::causal);
    const Command on = SetKvSentence{"A dog ran"};
    CHECK_THAT(notice_of(*document, on, *app::apply(document, on)),
               Catch::Contains("counts positions from the ends of both sentences"));
}

TEST_CASE("another preset brings its own second sentence, or keeps the user's") {
    const DocumentPtr built = first_lesson();
    const DocumentPtr translation = app::apply(built, SetPreset{"translation"});
    CHECK(translation->recipe.sentence == "The cat drinks cold water");
    CHECK(translation->recipe.kv_sentence == "Le chat boit de l'eau froide");
    CHECK(app::apply(translation, SetPreset{"random"})->recipe.kv_sentence.empty());

    DocumentPtr own = app::apply(translation, SetSentence{"I see the dog"});
    CHECK(app::apply(own, SetPreset{"random"})->recipe.kv_sentence.empty()); // an example is not typed
    own = app::apply(own, SetKvSentence{"Je vois le chien"});
    const DocumentPtr kept = app::apply(own, SetPreset{"random"});
    CHECK(kept->recipe.sentence == "I see the dog");
    CHECK(kept->recipe.kv_sentence == "Je vois le chien");
    // The preset whose sentence is fixed takes none.
    const DocumentPtr fixed = app::apply(kept, SetPreset{"cat-sleeps"});
    CHECK_FALSE(fixed->problem.cross());
    CHECK_THROWS_WITH(app::apply(fixed, SetKvSentence{"Le chat"}),
                      Catch::Contains("cat-sleeps") && Catch::Contains("choose another preset"));
}
