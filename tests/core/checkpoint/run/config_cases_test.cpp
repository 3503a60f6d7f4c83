#include "core/base/file.h"
#include "core/checkpoint/model/model.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"
#include "tests/test_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

using namespace headscope;
using namespace headscope::checkpoint;
using namespace headscope::test;

// tests/peers/make_config_cases.py made the cases with Hugging Face's own code in float64.
TEST_CASE("variations of config.json give Hugging Face's numbers, or are refused by the name of the key") {
    const auto file = nlohmann::json::parse(read_file(test_data("/config_cases.json")));
    REQUIRE(file.at("cases").size() >= 88);
    const auto ids = file.at("ids").get<std::vector<std::int64_t>>();
    for (const auto& one : file.at("cases")) {
        INFO(one.at("model") << " " << one.at("change"));
        const std::string base = test_data("/models/") + one.at("model").get<std::string>();
        auto config = nlohmann::json::parse(read_file(base + "/config.json"));
        config.update(one.at("change"));
        const TemporaryFolder folder;
        write_file_atomically(folder.file("config.json"), config.dump());
        std::filesystem::create_symlink(base + "/model.safetensors", folder.file("model.safetensors"));
        ModelInputs inputs;
        inputs.ids = one.value("ids", ids);
        inputs.T = std::ssize(inputs.ids);
        if (config.contains("num_decoder_layers") || config.contains("decoder_layers"))
            inputs.source = {inputs};
        if (one.contains("refused")) {
            CHECK_THAT(input_error([&] { run_on_cpu(Model::open(folder.file("")), inputs, {}); }),
                       Catch::Contains(one.at("refused").get<std::string>()));
            continue;
        }
        const ForwardResult run = run_on_cpu(Model::open(folder.file("")), inputs, {});
        const Tensor& result = run.logits != nullptr ? *run.logits : *run.hidden.back();
        const auto last = one.at("last").get<std::vector<double>>();
        double largest = 0;
        for (const double number : last)
            largest = std::max(largest, std::abs(number));
        for (std::size_t i = 0; i < last.size(); ++i) {
            const float got = result.values()[result.values().size() - last.size() + i];
            CHECK(std::abs(static_cast<double>(got) - last[i]) <= 2e-4 + 1e-6 * largest);
        }
    }
}
