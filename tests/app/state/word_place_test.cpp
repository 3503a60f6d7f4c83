#include "app/state/word_place.h"

#include "app/state/model_document.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/text/preset.h"
#include "tests/catch.h"
#include "tests/test_data.h"

namespace headscope::test {

using namespace headscope::app;
namespace {

DocumentPtr sentence_document(const std::string& sentence, const std::string& preset = "first-lesson") {
    project::Recipe recipe;
    recipe.preset = preset;
    recipe.sentence = sentence;
    return make_document(recipe, 1);
}

/// A document with only what word_place reads.
Document prompt_document(const std::string& folder, const std::string& prompt) {
    auto part = std::make_shared<RunSpec>();
    part->model = checkpoint::open_text_model(folder);
    part->prompt = prompt;
    part->inputs =
        std::make_shared<const checkpoint::ModelInputs>(checkpoint::prompt_inputs(*part->model, prompt));
    Document document;
    document.kind = CheckpointLayer{part, {}, {}};
    return document;
}

} // namespace

TEST_CASE("a word of a sentence is replaced, and the rest stays as it was typed", "[words]") {
    const DocumentPtr document = sentence_document("  The  cat,  sat down ");
    const auto cat = word_place(*document, 1);
    REQUIRE(cat);
    CHECK(cat->word() == "cat");
    CHECK(cat->with("small dog") == "The  small dog,  sat down ");
    CHECK(word_place(*document, 2)->word() == ",");
    CHECK(word_place(*document, 3)->with(" ") == "The  cat, down ");
    CHECK(word_place(*document, 0)->with("") == "cat,  sat down ");
    CHECK_FALSE(word_place(*document, 5));
    CHECK_FALSE(word_place(*document, -1));
    CHECK_FALSE(word_place(*document, 0, true));
    CHECK(word_place(*sentence_document("Größe zählt"), 1)->with("hilft") == "Größe hilft");
    CHECK_FALSE(word_place(
        *sentence_document(std::string(text::find_preset("cat-sleeps")->sentence), "cat-sleeps"), 0));
}

TEST_CASE("a word is found again in a text that changed since", "[words]") {
    const auto word = [](std::int64_t which) {
        return *word_place(*sentence_document("The cat sat down"), which);
    };
    const auto replaced = [&](std::int64_t which, const std::string& changed) {
        const auto moved = word(which).moved_to(changed);
        return moved ? moved->with("bird") : "";
    };
    CHECK(replaced(1, "The cat sat down") == "The bird sat down");
    CHECK(replaced(1, "A cat sat down") == "A bird sat down");
    CHECK(replaced(1, "The very old cat sat down") == "The very old bird sat down");
    CHECK(replaced(1, "cat sat down") == "bird sat down");
    CHECK(replaced(1, "The cat slept") == "The bird slept");
    CHECK(replaced(1, "The dog sat down") == "The bird sat down");
    CHECK(replaced(0, "That cat sat down") == "bird cat sat down");
    CHECK(replaced(1, "Birds sing").empty());
    CHECK(replaced(1, "The cat, sat down").empty());
    CHECK(replaced(1, "The catapult stood down").empty());
    CHECK(replaced(1, "Tomcat sat down").empty());
    CHECK(replaced(3, "The cat sat").empty());
}

TEST_CASE("a token of a prompt is replaced at its place in the text", "[words]") {
    const std::string prompt = "When Mary and John went to the shop, John gave a book to";
    const Document document = prompt_document(checkpoint::model_folder("pocket"), prompt);
    const std::vector<std::string>& tokens = document.part()->inputs->tokens;
    for (std::int64_t i = 0; i < std::ssize(tokens); ++i) {
        const auto place = word_place(document, i);
        CAPTURE(i, tokens[static_cast<std::size_t>(i)]);
        if (!place)
            continue; // a mark that the tokenizer adds
        CHECK(tokens[static_cast<std::size_t>(i)].find(place->word()) != std::string::npos);
        CHECK(place->with(place->word()) == prompt);
    }
    std::int64_t mary = 0;
    while (tokens[static_cast<std::size_t>(mary)].find("Mary") == std::string::npos)
        ++mary;
    CHECK(word_place(document, mary)->with("Anna") ==
          "When Anna and John went to the shop, John gave a book to");
    const Document ids = prompt_document(test_data("/models/gpt2_tiny"), "3 1, 4  1 5");
    CHECK(word_place(ids, 2)->with("7") == "3 1, 7  1 5");
    CHECK_FALSE(word_place(ids, 5));
}

} // namespace headscope::test
