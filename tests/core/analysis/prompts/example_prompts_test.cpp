#include "core/analysis/prompts/example_prompts.h"
#include "core/base/error.h"
#include "core/checkpoint/files/packaged_models.h"
#include "tests/catch.h"
#include "tests/test_data.h"

using namespace headscope;
using analysis::example_prompts;
using analysis::ExamplePrompt;
using analysis::PromptTask;
using Catch::Contains;

TEST_CASE("prompts of a task end where the answer is one token of the model", "[prompts]") {
    const checkpoint::TextModelPtr pocket = checkpoint::open_text_model(checkpoint::model_folder("pocket"));
    for (const analysis::PromptTaskInfo& info : analysis::prompt_tasks()) {
        CAPTURE(info.id);
        for (const ExamplePrompt& prompt : example_prompts(*pocket, info.task, 30, 7)) {
            CAPTURE(prompt.clean, prompt.corrupted, prompt.answer.text);
            const auto clean = checkpoint::prompt_inputs(*pocket, prompt.clean).ids;
            CHECK(clean.size() == checkpoint::prompt_inputs(*pocket, prompt.corrupted).ids.size());
            const std::string between = info.task == PromptTask::greater_than ? "" : " ";
            for (const auto* token : {&prompt.answer, &prompt.against}) {
                auto longer = checkpoint::prompt_inputs(*pocket, prompt.clean + between + token->text).ids;
                REQUIRE(longer.size() == clean.size() + 1);
                CHECK(longer.back() == token->id);
                longer.pop_back();
                CHECK(longer == clean);
            }
        }
    }
}

TEST_CASE("more prompts than a vocabulary allows are refused", "[prompts]") {
    const checkpoint::TextModelPtr pocket = checkpoint::open_text_model(checkpoint::model_folder("pocket"));
    CHECK_THROWS_WITH(example_prompts(*pocket, PromptTask::greater_than, 5000, 1),
                      Contains("different prompts"));
    const checkpoint::TextModelPtr ids = checkpoint::open_text_model(test_data("/models/gpt2_tiny"));
    CHECK_THROWS_WITH(example_prompts(*ids, PromptTask::ioi, 5, 1), Contains("has no tokenizer"));
}
