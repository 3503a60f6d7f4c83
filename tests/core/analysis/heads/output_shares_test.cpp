#include "core/analysis/heads/output_shares.h"

#include "core/trace/trace.h"
#include "tests/catch.h"
#include "tests/core/checkpoint/run/model_case.h"
#include "tests/test_data.h"

#include <cmath>

namespace headscope::test {

using namespace headscope::checkpoint;

namespace {

ModelInputs few_tokens(const std::vector<std::int64_t>& ids) {
    ModelInputs inputs;
    inputs.T = std::ssize(ids);
    inputs.ids = ids;
    return inputs;
}

double length_of(const Tensor& contributions, std::int64_t head) {
    const std::int64_t count = contributions.shape()[2] * contributions.shape()[3];
    const float* const from = contributions.data() + contributions.offset(0, head, 0, 0);
    double squares = 0;
    for (std::int64_t n = 0; n < count; ++n)
        squares += std::pow(static_cast<double>(from[n]), 2);
    return std::sqrt(squares);
}

} // namespace

TEST_CASE("a head's share of the output is that of the contributions of the whole pass", "[heads]") {
    for (const char* const name : {"gpt2_tiny", "llama_tiny_untied", "bert_tiny", "gemma2_tiny", "t5_tiny"}) {
        const auto model =
            std::make_shared<const Model>(Model::open(test_data("/models/") + std::string(name)));
        ModelInputs inputs = few_tokens({3, 7, 5, 11, 7, 9});
        if (model->encoder() != nullptr)
            inputs.source = {few_tokens({8, 2, 6, 4})};
        const std::int64_t H = model->config().H;
        LayerEdits edit;
        edit.gains = std::vector<float>(static_cast<std::size_t>(H), 1.0F);
        edit.gains[0] = 3;
        const ModelEdits edits{{1, edit}};
        Progress progress;
        const ModelRunPtr run =
            ModelRun::compute(model, inputs, edits, nullptr, ModelRun::Options(), progress);
        ForwardOptions options;
        options.stages = StageSet().with(TensorId::contributions);
        options.edits = edits;
        const ForwardResult whole = run_on_cpu(*model, inputs, options);
        for (const Stack stack : {Stack::own, Stack::encoder, Stack::cross}) {
            if (stack != Stack::own && model->encoder() == nullptr)
                continue;
            const auto shares = analysis::output_shares(*run, stack, progress);
            for (const LayerRun& layer : whole.layers) {
                if (layer.place.stack != stack)
                    continue;
                const Tensor& contributions = *layer.trace.stage(TensorId::contributions);
                double sum = 0;
                for (std::int64_t h = 0; h < H; ++h)
                    sum += length_of(contributions, h);
                for (std::int64_t h = 0; h < H; ++h) {
                    INFO(name << " layer " << layer.place.layer << " head " << h);
                    CHECK(
                        shares.at(static_cast<std::size_t>(layer.place.layer))[static_cast<std::size_t>(h)] ==
                        Approx(length_of(contributions, h) / sum).epsilon(1e-4));
                }
            }
        }
    }
}

} // namespace headscope::test
