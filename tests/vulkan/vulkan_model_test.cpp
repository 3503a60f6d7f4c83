#include "core/checkpoint/checks/reference_check.h"
#include "tests/catch.h"
#include "tests/test_data.h"
#include "tests/vulkan/support.h"

using namespace headscope;

TEST_CASE("the Vulkan engine meets Hugging Face's numbers of encoder, decoder and cross-attention") {
    Validated validated;
    vulkan::VulkanEngine engine(0, validated.options);
    for (const char* name : {"t5_tiny", "bart_tiny", "marian_tiny"}) {
        INFO(name);
        const std::string folder = test_data("/models/") + name;
        Progress progress;
        const auto rows = checkpoint::check_against(
            checkpoint::Model::open(folder), format::Safetensors::open(folder + "/expected.safetensors"),
            [&](const Problem& problem, StageSet stages, Progress& cancel) {
                return engine.run(problem, stages, cancel);
            },
            progress);
        CHECK(rows.size() == 13);
        for (const checkpoint::ReferenceRow& row : rows) {
            INFO(row.kind << " " << row.layer.value_or(-1));
            CHECK(row.difference < row.allowed);
        }
    }
    CHECK(validated.messages.empty());
}

TEST_CASE("the Vulkan engine meets Hugging Face's numbers of decoders that read both ways") {
    Validated validated;
    vulkan::VulkanEngine engine(0, validated.options);
    for (const char* name : {"phi3_not_causal", "bidirectional_gemma3"}) {
        INFO(name);
        const std::string folder = test_data("/files/") + name;
        Progress progress;
        const auto rows = checkpoint::check_against(
            checkpoint::Model::open(folder), format::Safetensors::open(folder + "/reference.safetensors"),
            [&](const Problem& problem, StageSet stages, Progress& cancel) {
                return engine.run(problem, stages, cancel);
            },
            progress);
        CHECK(rows.size() == 10); // attention of 4 layers, 5 hidden states, logits
        for (const checkpoint::ReferenceRow& row : rows) {
            INFO(row.kind << " " << row.layer.value_or(-1));
            CHECK(row.difference < row.allowed);
        }
    }
    CHECK(validated.messages.empty());
}
