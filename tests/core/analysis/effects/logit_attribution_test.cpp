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
using Catch::Contains;

namespace {

lesson::LessonModel run_ids(const std::string& folder, const std::vector<std::int64_t>& ids) {
    const checkpoint::TextModelPtr model = checkpoint::open_text_model(folder);
    Progress progress;
    return lesson::run_lesson_model(model, checkpoint::token_inputs(*model, ids), {}, {}, progress);
}

lesson::LessonModel run_pocket(const std::string& text) {
    const checkpoint::TextModelPtr model = checkpoint::open_text_model(checkpoint::model_folder("pocket"));
    Progress progress;
    return lesson::run_lesson_model(model, checkpoint::prompt_inputs(*model, text), {}, {}, progress);
}

double logit_of(const lesson::LessonModel& model, std::int64_t position, std::int64_t token) {
    return static_cast<double>(model.run.logits->at(0, position, token));
}

double part_of(const LogitAttribution& all, const Writer& writer) {
    REQUIRE(std::ranges::find(all.parts, writer, &LogitPart::writer) != all.parts.end());
    return sum_of_parts(all, [&](const Writer& one) { return one == writer; });
}

LogitAttribution attributed(const lesson::LessonModel& model, std::int64_t position, std::int64_t token,
                            std::optional<std::int64_t> against) {
    return logit_attribution(*model.numbers, question_of(position, token, against), Progress());
}

constexpr const char* two_names = "When Mary and John went to the shop, John gave a book to";

} // namespace

TEST_CASE("what heads of pocket write towards a name is what PyTorch gives", "[attribution]") {
    const lesson::LessonModel model = run_pocket(two_names);
    const std::int64_t mary = checkpoint::word_token(*model.model, "Mary"),
                       john = checkpoint::word_token(*model.model, "John");
    const auto difference = attributed(model, model.inputs.T - 1, mary, john);
    using Kind = Writer::Kind;
    CHECK(part_of(difference, {.kind = Kind::embedding}) == Approx(-0.01322).margin(2e-4));
    CHECK(part_of(difference, {.kind = Kind::head, .layer = 2, .head = 7}) == Approx(4.0126).margin(2e-4));
    CHECK(part_of(difference, {.kind = Kind::head, .layer = 2, .head = 4}) == Approx(-3.12111).margin(2e-4));
    CHECK(part_of(difference, {.kind = Kind::mlp, .layer = 3}) == Approx(0.43824).margin(2e-4));
    const auto one = attributed(model, model.inputs.T - 1, mary, {});
    CHECK(part_of(one, {.kind = Kind::head, .layer = 2, .head = 7}) == Approx(3.66904).margin(2e-4));
    CHECK(part_of(one, {.kind = Kind::mlp, .layer = 3}) == Approx(2.45467).margin(2e-4));
    CHECK(logit_of(model, model.inputs.T - 1, mary) == Approx(18.35408).margin(1e-3));
}

TEST_CASE("a path is not cut where a branch passes a norm of its own", "[attribution]") {
    const lesson::LessonModel model = run_ids(test_data("/models/gemma2_tiny"), {3, 7, 5});
    Progress progress;
    CHECK_THROWS_WITH(cut_path(*model.numbers, {0, 0}, {1, 0}, progress),
                      Contains("this gemma2 model has other norms"));
}

TEST_CASE("a path from head to head is cut as PyTorch cuts it", "[attribution]") {
    const lesson::LessonModel model = run_pocket("kite bell rope drum coat kite bell");
    Progress progress;
    struct Row {
        std::int64_t head;
        std::array<double, 3> last, earlier; ///< [7, 3] and [6, 2]: whole, queries cut, keys cut
    };
    for (const auto& [head, last, earlier] :
         {Row{0, {0.999315, 0.99078, 0.074568}, {0.482037, 0.831047, 0.058578}},
          Row{4, {0.854284, 0.468471, 0.000016}, {0.973518, 0.986953, 0.011098}},
          Row{7, {0.982396, 0.252582, 0.014974}, {0.995609, 0.987871, 0.002826}}}) {
        CAPTURE(head);
        const CutPath cut = cut_path(*model.numbers, {0, 4}, {2, head}, progress);
        const std::array weights{&cut.whole, &cut.without_queries, &cut.without_keys};
        const auto T = static_cast<std::size_t>(model.inputs.T);
        for (std::size_t n = 0; n < weights.size(); ++n) {
            CHECK(static_cast<double>((*weights[n])[7 * T + 3]) == Approx(last[n]).margin(2e-5));
            CHECK(static_cast<double>((*weights[n])[6 * T + 2]) == Approx(earlier[n]).margin(2e-5));
        }
        const Tensor& own = *model.run.layers[2].trace.stage(TensorId::weights);
        CHECK(cut.whole[7 * T + 3] == Approx(own.at(0, head, 7, 3)).margin(1e-6));
    }
    CHECK_THROWS_WITH(cut_path(*model.numbers, {2, 4}, {2, 0}, progress),
                      Contains("head 2.4 writes nothing that head 2.0 reads"));
    CHECK_THROWS_WITH(cut_path(*model.numbers, {0, 8}, {2, 0}, progress), Contains("there is no head 0.8"));
}
