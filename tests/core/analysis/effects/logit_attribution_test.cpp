#include "core/analysis/effects/head_path.h"
#include "core/analysis/effects/logit_attribution.h"
#include "core/base/error.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/lesson/lesson_model.h"
#include "tests/catch.h"
#include "tests/test_data.h"

#include <algorithm>
#include <array>

using namespace headscope;
using namespace headscope::analysis;
using Catch::Matchers::Contains;

namespace {

lesson::LessonModel run_ids(const std::string& folder, const std::vector<std::int64_t>& ids) {
    const checkpoint::TextModelPtr model = checkpoint::open_text_model(folder);
    Progress progress;
    return lesson::run_lesson_model(model, checkpoint::token_inputs(*model, ids), {}, progress);
}

lesson::LessonModel run_pocket(const std::string& text) {
    const checkpoint::TextModelPtr model = checkpoint::open_text_model(checkpoint::model_folder("pocket"));
    Progress progress;
    return lesson::run_lesson_model(model, checkpoint::prompt_inputs(*model, text), {}, progress);
}

double logit_of(const lesson::LessonModel& model, std::int64_t position, std::int64_t token) {
    return static_cast<double>(model.run.logits->at(0, position, token));
}

double part_of(const std::vector<LogitPart>& parts, LogitPart::Writer writer, std::int64_t layer = -1,
               std::int64_t head = -1) {
    const auto found = std::ranges::find_if(parts, [&](const LogitPart& one) {
        return one.writer == writer && one.layer == layer && one.head == head;
    });
    REQUIRE(found != parts.end());
    return found->value;
}

constexpr const char* two_names = "When Mary and John went to the shop, John gave a book to";

} // namespace

TEST_CASE("the parts of a logit add up to it, for every kind of norm and residual", "[attribution]") {
    for (const char* name : {"gpt2_tiny", "gpt_neox_tiny", "gptj_tiny", "llama_tiny_tied",
                             "llama_tiny_untied", "qwen2_tiny_bf16", "bloom_tiny", "phi_tiny", "opt_tiny"}) {
        CAPTURE(name);
        const lesson::LessonModel model = run_ids(test_data("/models/") + name, {3, 7, 5, 11, 2, 9});
        for (const std::int64_t position : {0, 3, 5}) {
            const auto sum = [&](std::int64_t token, std::optional<std::int64_t> against) {
                double all = 0;
                for (const LogitPart& one :
                     logit_attribution(*model.model->model, model.run, position, token, against))
                    all += one.value;
                return all;
            };
            CHECK(sum(4, {}) == Approx(logit_of(model, position, 4)).margin(2e-4));
            CHECK(sum(4, 8) ==
                  Approx(logit_of(model, position, 4) - logit_of(model, position, 8)).margin(2e-4));
        }
    }
}

TEST_CASE("what heads of pocket write towards a name is what PyTorch gives", "[attribution]") {
    const lesson::LessonModel model = run_pocket(two_names);
    const std::int64_t mary = lesson::token_of(model, "Mary"), john = lesson::token_of(model, "John");
    const auto difference = logit_attribution(*model.model->model, model.run, model.inputs.T - 1, mary, john);
    using Writer = LogitPart::Writer;
    CHECK(part_of(difference, Writer::embedding) == Approx(-0.01322).margin(2e-4));
    CHECK(part_of(difference, Writer::head, 2, 7) == Approx(4.0126).margin(2e-4));
    CHECK(part_of(difference, Writer::head, 2, 4) == Approx(-3.12111).margin(2e-4));
    CHECK(part_of(difference, Writer::mlp, 3) == Approx(0.43824).margin(2e-4));
    const auto one = logit_attribution(*model.model->model, model.run, model.inputs.T - 1, mary, {});
    CHECK(part_of(one, Writer::head, 2, 7) == Approx(3.66904).margin(2e-4));
    CHECK(part_of(one, Writer::mlp, 3) == Approx(2.45467).margin(2e-4));
    CHECK(logit_of(model, model.inputs.T - 1, mary) == Approx(18.35408).margin(1e-3));
}

TEST_CASE("a model whose branches pass a norm of their own has no direct attribution", "[attribution]") {
    const lesson::LessonModel model = run_ids(test_data("/models/gemma2_tiny"), {3, 7, 5});
    CHECK_THROWS_WITH(logit_attribution(*model.model->model, model.run, 0, 1, {}),
                      Contains("do not write straight"));
    CHECK_THROWS_WITH(cut_path(*model.model->model, model.run, {0, 0}, {1, 0}, *engine::make_engine("cpu")),
                      Contains("norms of this gemma2 model stand elsewhere"));
}

TEST_CASE("a path from head to head is cut as PyTorch cuts it", "[attribution]") {
    const lesson::LessonModel model = run_pocket("kite bell rope drum coat kite bell");
    const auto engine = engine::make_engine("cpu");
    struct Row {
        std::int64_t head;
        std::array<double, 3> last, earlier; ///< [7, 3] and [6, 2]: whole, queries cut, keys cut
    };
    for (const auto& [head, last, earlier] :
         {Row{0, {0.999315, 0.99078, 0.074568}, {0.482037, 0.831047, 0.058578}},
          Row{4, {0.854284, 0.468471, 0.000016}, {0.973518, 0.986953, 0.011098}},
          Row{7, {0.982396, 0.252582, 0.014974}, {0.995609, 0.987871, 0.002826}}}) {
        CAPTURE(head);
        const CutPath cut = cut_path(*model.model->model, model.run, {0, 4}, {2, head}, *engine);
        const std::array weights{&cut.whole, &cut.without_queries, &cut.without_keys};
        const auto T = static_cast<std::size_t>(model.inputs.T);
        for (std::size_t n = 0; n < weights.size(); ++n) {
            CHECK(static_cast<double>((*weights[n])[7 * T + 3]) == Approx(last[n]).margin(2e-5));
            CHECK(static_cast<double>((*weights[n])[6 * T + 2]) == Approx(earlier[n]).margin(2e-5));
        }
        const Tensor& own = *model.run.layers[2].trace.stage(TensorId::weights);
        CHECK(cut.whole[7 * T + 3] == Approx(own.at(0, head, 7, 3)).margin(1e-6));
    }
    CHECK_THROWS_WITH(cut_path(*model.model->model, model.run, {2, 4}, {2, 0}, *engine),
                      Contains("head 2.4 writes nothing that head 2.0 reads"));
    CHECK_THROWS_WITH(cut_path(*model.model->model, model.run, {0, 8}, {2, 0}, *engine),
                      Contains("there is no head 0.8"));
}
