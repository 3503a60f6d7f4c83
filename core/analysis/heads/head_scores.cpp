// Longer than 500 lines: one table.
#include "core/analysis/heads/head_scores.h"

#include "core/analysis/heads/head_metrics.h"
#include "core/base/message.h"
#include "core/tensor/views.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace headscope::analysis {

namespace {

RowPart one(float value) {
    return {static_cast<double>(value), 1};
}

RowPart on_first(const WeightRow& row) {
    return row.i > 0 ? one(row.weights.front()) : RowPart();
}

RowPart on_previous(const WeightRow& row) {
    return row.i > 0 ? one(row.weights[static_cast<std::size_t>(row.i - 1)]) : RowPart();
}

RowPart on_self(const WeightRow& row) {
    return one(row.weights[static_cast<std::size_t>(row.i)]);
}

RowPart on_next(const WeightRow& row) {
    const auto next = static_cast<std::size_t>(row.i + 1);
    return next < row.weights.size() ? one(row.weights[next]) : RowPart();
}

/// How far away the row reads, each weight counted by itself: rows of a larger sum count for more.
RowPart distance_part(const WeightRow& row) {
    const Eigen::Index Tk = std::ssize(row.weights);
    const auto weights = view_of(row.weights).cast<double>();
    const auto keys = Eigen::ArrayXd::LinSpaced(Tk, 0, static_cast<double>(Tk - 1));
    return {(weights * (keys - static_cast<double>(row.i)).abs()).sum(), weights.sum()};
}

RowPart confidence_part(const WeightRow& row) {
    float largest = 0;
    std::size_t from = 0;
    const auto take = [&](std::size_t end) {
        if (end > from)
            largest = std::max(largest, view_of(row.weights.subspan(from, end - from)).maxCoeff());
        from = end + 1;
    };
    for (const std::size_t end : row.keys.ends)
        take(end);
    if (from < row.weights.size())
        take(row.weights.size());
    return one(largest);
}

RowPart entropy_part(const WeightRow& row) {
    return {entropy_of(row.weights), 1};
}
RowPart largest_part(const WeightRow& row) {
    return one(view_of(row.weights).maxCoeff());
}

/// The row's weight on earlier keys with the row's own token, `shift` keys later each.
RowPart on_earlier(const WeightRow& row, std::int64_t shift) {
    RowPart part{0, view_of(row.weights).cast<double>().sum()};
    const std::vector<std::int64_t>& before = row.keys.before;
    for (std::int64_t j = before[static_cast<std::size_t>(row.i)]; j >= 0;
         j = before[static_cast<std::size_t>(j)])
        part.value += static_cast<double>(row.weights[static_cast<std::size_t>(j + shift)]);
    return part;
}

RowPart on_same_earlier(const WeightRow& row) {
    return on_earlier(row, 0);
}

RowPart on_what_followed(const WeightRow& row) {
    return on_earlier(row, 1);
}

RowPart on_keys(const WeightRow& row, const std::vector<std::size_t>& keys) {
    return {std::transform_reduce(keys.begin(), keys.end(), 0.0, std::plus<>(),
                                  [&](std::size_t j) { return static_cast<double>(row.weights[j]); }),
            1};
}

RowPart on_special(const WeightRow& row) {
    return on_keys(row, row.keys.special);
}

RowPart on_punctuation(const WeightRow& row) {
    return on_keys(row, row.keys.punctuation);
}

RowPart on_key_0(const WeightRow& row) {
    return one(row.weights.front());
}

constexpr double sink_from = 0.3; ///< mean weight on the first token that makes it a sink (Gu et al. 2024)

double is_sink(double mean) {
    return mean > sink_from ? 1 : 0;
}

/// In rows of the second half of a probe: the weight `back` places before the row.
RowPart in_second_half(const WeightRow& row, std::int64_t back) {
    const bool second = row.i >= std::ssize(row.weights) - row.keys.repeated;
    return second ? one(row.weights[static_cast<std::size_t>(row.i - back)]) : RowPart();
}

RowPart on_first_saying(const WeightRow& row) {
    return in_second_half(row, row.keys.repeated);
}

RowPart after_first_saying(const WeightRow& row) {
    return in_second_half(row, row.keys.repeated - 1);
}

/// The weight of key j where `holds`, else nothing.
double if_so(const WeightRow& row, std::size_t j, bool holds) {
    return holds ? static_cast<double>(row.weights[j]) : 0.0;
}

/// The weight of the key `places` after the row.
template<int places>
double at_distance(const WeightRow& row, std::size_t j) {
    return if_so(row, j, static_cast<std::int64_t>(j) == row.i + places);
}

double on_first_key(const WeightRow& row, std::size_t j) {
    return if_so(row, j, j == 0 && row.i > 0);
}

double far_away(const WeightRow& row, std::size_t j) {
    return static_cast<double>(row.weights[j]) *
           std::abs(static_cast<double>(row.i) - static_cast<double>(j));
}

double largest_weight(const WeightRow& row, std::size_t j) {
    return static_cast<double>(row.weights[j]);
}

double among(const WeightRow& row, std::size_t j, const std::vector<std::size_t>& keys, bool wanted = true) {
    return if_so(row, j, std::ranges::binary_search(keys, j) == wanted);
}

double not_ending(const WeightRow& row, std::size_t j) {
    return among(row, j, row.keys.ends, false);
}

double a_special_key(const WeightRow& row, std::size_t j) {
    return among(row, j, row.keys.special);
}

double a_mark(const WeightRow& row, std::size_t j) {
    return among(row, j, row.keys.punctuation);
}

/// The weight of key j where it comes `shift` keys after an earlier one with the row's own token.
double after_an_earlier(const WeightRow& row, std::size_t j, std::int64_t shift) {
    std::int64_t before = row.keys.before[static_cast<std::size_t>(row.i)];
    while (before + shift > static_cast<std::int64_t>(j) && before >= 0)
        before = row.keys.before[static_cast<std::size_t>(before)];
    return if_so(row, j, before >= 0 && before + shift == static_cast<std::int64_t>(j));
}

double a_same_one(const WeightRow& row, std::size_t j) {
    return after_an_earlier(row, j, 0);
}

double one_that_followed(const WeightRow& row, std::size_t j) {
    return after_an_earlier(row, j, 1);
}

double one_at_most(std::int64_t) {
    return 1;
}

double nothing_known(std::int64_t) {
    return std::numeric_limits<double>::infinity();
}

double nats_at_most(std::int64_t Tk) {
    return std::log(static_cast<double>(Tk));
}

double tokens_at_most(std::int64_t Tk) {
    return static_cast<double>(Tk - 1);
}

constexpr ScoreUnit weight_unit{1, 2, {}, one_at_most},
    nats{1, 2, translatable("head_scores.nats", " nats"), nats_at_most},
    percent{100, 0, untranslated(" %"), one_at_most},
    tokens{1, 2, translatable("head_scores.tokens", " tokens"), tokens_at_most},
    divergence{1, 4, translatable("head_scores.nats", " nats"), nothing_known},
    change{1, 4, {}, nothing_known};
constexpr float half = 0.5F;     ///< a head is called by what holds at least half of its weight
constexpr float quarter = 0.25F; ///< likewise where only rows count whose token stood before

constexpr std::array<HeadScoreInfo, head_score_count> table{
    {{.score = HeadScore::first,
      .id = "first",
      .name = translatable("common.first_token", "first token"),
      .formula = translatable("head_scores.mean_i_0_over", "mean of A[i, 0] over rows i ≥ 1"),
      .source = untranslated("Clark et al. 2019"),
      .unit = weight_unit,
      .positions = true,
      .of = ScoreSource::weights,
      .title = translatable("head_scores.first_token", "on the first token"),
      .brief = translatable("common.first_token", "first token"),
      .label = {translatable("common.first_token", "first token"),
                translatable("head_scores.most_weight_first_token", "most weight on the first token"), 'F',
                half, 4},
      .part = on_first,
      .acts = on_first_key},
     {.score = HeadScore::previous,
      .id = "previous",
      .name = translatable("common.previous_token", "previous token"),
      .formula = translatable("head_scores.mean_i_i_1", "mean of A[i, i-1] over rows i ≥ 1"),
      .source = untranslated("Clark et al. 2019"),
      .unit = weight_unit,
      .positions = true,
      .of = ScoreSource::weights,
      .title = translatable("head_scores.token_before", "on the previous token"),
      .brief = translatable("head_scores.previous", "previous"),
      .label = {translatable("common.previous_token", "previous token"),
                translatable("head_scores.most_weight_token_before", "most weight on the previous token"),
                'P', half, 1},
      .part = on_previous,
      .acts = at_distance<-1>},
     {.score = HeadScore::self,
      .id = "self",
      .name = translatable("head_scores.itself", "itself"),
      .formula = translatable("head_scores.mean_i_i", "mean of A[i, i]"),
      .source = untranslated("Clark et al. 2019"),
      .unit = weight_unit,
      .positions = true,
      .of = ScoreSource::weights,
      .title = translatable("head_scores.token_itself", "on the token itself"),
      .brief = translatable("head_scores.itself", "itself"),
      .label = {translatable("head_scores.itself", "itself"),
                translatable("head_scores.most_weight_token_itself", "most weight on the token itself"), 'S',
                half, 3},
      .part = on_self,
      .acts = at_distance<0>},
     {.score = HeadScore::next,
      .id = "next",
      .name = translatable("common.next_token", "next token"),
      .formula = translatable("head_scores.mean_i_i_1_2", "mean of A[i, i+1] over rows i < T-1"),
      .source = untranslated("Clark et al. 2019"),
      .unit = weight_unit,
      .positions = true,
      .of = ScoreSource::weights,
      .title = translatable("head_scores.token_after", "on the next token"),
      .brief = translatable("common.next", "next"),
      .label = {translatable("common.next_token", "next token"),
                translatable("head_scores.most_weight_token_after", "most weight on the next token"), 'N',
                half, 2},
      .part = on_next,
      .acts = at_distance<1>},
     {.score = HeadScore::distance,
      .id = "distance",
      .name = translatable("head_scores.mean_distance", "mean distance"),
      .formula = translatable("head_scores.sum_i_j_i", "sum of A[i, j] |i - j| over sum of A, in tokens"),
      .source = untranslated("Vig and Belinkov 2019"),
      .unit = tokens,
      .positions = true,
      .of = ScoreSource::weights,
      .title = translatable("head_scores.mean_distance", "mean distance"),
      .brief = translatable("head_scores.mean_distance", "mean distance"),
      .bar = translatable("common.distance", "distance"),
      .explains = translatable(
          "head_scores.distance_how_many_tokens",
          "Distance: tokens between query and key, averaged over the head's weight; at most {}."),
      .part = distance_part,
      .acts = far_away},
     {.score = HeadScore::entropy,
      .id = "entropy",
      .name = translatable("common.entropy", "entropy"),
      .formula = translatable("head_scores.mean_over_rows_sum",
                              "mean over rows of -sum over j of A[i, j] ln A[i, j], in nats"),
      .source = untranslated("Clark et al. 2019"),
      .unit = nats,
      .positions = false,
      .of = ScoreSource::weights,
      .title = translatable("head_scores.entropy_row", "entropy of a row"),
      .brief = translatable("common.entropy", "entropy"),
      .bar = translatable("common.entropy", "entropy"),
      .explains = translatable("head_scores.entropy_how_widely_row",
                               "Entropy: spread of a row of weights, averaged over rows; 0 is a single key, "
                               "{} is equal weight on all keys."),
      .part = entropy_part},
     {.score = HeadScore::confidence,
      .id = "confidence",
      .name = translatable("head_scores.confidence", "confidence"),
      .formula = translatable("head_scores.mean_over_rows_largest",
                              "mean over rows of the largest A[i, j], without keys that end a text: </s>, "
                              "<eos>, [EOS], [SEP], <sep>, <|endoftext|>, <|end_of_text|>"),
      .source = untranslated("Voita et al. 2019"),
      .unit = weight_unit,
      .positions = false,
      .of = ScoreSource::weights,
      .title = translatable("head_scores.confidence", "confidence"),
      .brief = translatable("head_scores.confidence", "confidence"),
      .bar = translatable("head_scores.confidence", "confidence"),
      .explains = translatable(
          "head_scores.confidence_largest_weight",
          "Confidence: largest weight of a row, without tokens that end the text, averaged over rows."),
      .part = confidence_part,
      .acts = not_ending},
     {.score = HeadScore::largest,
      .id = "largest",
      .name = translatable("head_scores.largest_weight", "largest weight"),
      .formula =
          translatable("head_scores.mean_over_rows_largest_2", "mean over rows of the largest A[i, j]"),
      .source = {},
      .unit = weight_unit,
      .positions = false,
      .of = ScoreSource::weights,
      .title = translatable("head_scores.largest_row", "largest of a row"),
      .brief = translatable("head_scores.largest_weight_row", "largest weight of a row"),
      .part = largest_part,
      .acts = largest_weight},
     {.score = HeadScore::share,
      .id = "share",
      .name = translatable("head_scores.share_output", "fraction of output"),
      .formula = translatable("head_scores.frobenius_norm_heads",
                              "Frobenius norm of the head's contribution to the output, divided by the sum "
                              "of these norms over all heads"),
      .source = {},
      .unit = percent,
      .positions = false,
      .of = ScoreSource::contributions,
      .bar = translatable("head_scores.share", "fraction"),
      .explains = translatable("head_scores.share_size_frobenius_norm",
                               "Fraction: Frobenius norm of what the head adds to the output, divided by the "
                               "sum over all heads.")},
     {.score = HeadScore::duplicate_text,
      .id = "duplicate_text",
      .name = translatable("head_scores.duplicate_text", "duplicate, text"),
      .formula = translatable("head_scores.sum_i_j_over",
                              "sum of A[i, j] over j < i where token j is token i, over sum of A"),
      .source = untranslated("TransformerLens, head_detector, \"mul\""),
      .unit = weight_unit,
      .positions = true,
      .of = ScoreSource::tokens,
      .title = translatable("head_scores.own_token_earlier", "on an earlier copy"),
      .label = {translatable("head_scores.duplicate_token", "duplicate token"),
                translatable("head_scores.weight_same_token_earlier", "weight on an earlier copy"), 'D',
                quarter, 6},
      .part = on_same_earlier,
      .acts = a_same_one},
     {.score = HeadScore::induction_text,
      .id = "induction_text",
      .name = translatable("head_scores.induction_text", "induction, text"),
      .formula = translatable(
          "head_scores.sum_i_j_over_2",
          "sum of A[i, j] over 1 <= j <= i where token j-1 is token i and j-1 < i, over sum of A"),
      .source = untranslated("TransformerLens, head_detector, \"mul\""),
      .unit = weight_unit,
      .positions = true,
      .of = ScoreSource::tokens,
      .title = translatable("head_scores.followed", "after an earlier copy"),
      .label = {translatable("common.induction", "induction"),
                translatable("head_scores.weight_followed_same_token",
                             "weight on the token after an earlier copy"),
                'I', quarter, 5},
      .part = on_what_followed,
      .acts = one_that_followed},
     {.score = HeadScore::special,
      .id = "special",
      .name = translatable("head_scores.special_tokens", "special tokens"),
      .formula = translatable(
          "head_scores.mean_over_rows_sum_2",
          "mean over rows of the sum of A[i, j] over special tokens j: [CLS], [SEP], [PAD], [BOS], [EOS], "
          "<s>, </s>, <pad>, <bos>, <eos>, <cls>, <sep>, <start_of_turn>, <end_of_turn>, <|...|>"),
      .source = untranslated("Clark et al. 2019"),
      .unit = weight_unit,
      .positions = false,
      .of = ScoreSource::texts,
      .title = translatable("head_scores.special_tokens_2", "on special tokens"),
      .part = on_special,
      .acts = a_special_key},
     {.score = HeadScore::punctuation,
      .id = "punctuation",
      .name = translatable("common.punctuation", "punctuation"),
      .formula = translatable("head_scores.mean_over_rows_sum_3",
                              "mean over rows of the sum of A[i, j] over tokens j that are only punctuation"),
      .source = untranslated("Clark et al. 2019"),
      .unit = weight_unit,
      .positions = false,
      .of = ScoreSource::texts,
      .title = translatable("head_scores.punctuation", "on punctuation"),
      .part = on_punctuation,
      .acts = a_mark},
     {.score = HeadScore::sink,
      .id = "sink",
      .name = translatable("head_scores.first_token_sink", "first-token sink"),
      .formula =
          translatable("head_scores.share_texts_mean_i",
                       "fraction of texts in which the mean of A[i, 0] over all rows is more than 0.3"),
      .source = untranslated("Gu et al. 2024"),
      .unit = weight_unit,
      .positions = true,
      .of = ScoreSource::weights,
      .part = on_key_0,
      .of_mean = is_sink,
      .acts = on_first_key},
     {.score = HeadScore::probe_previous,
      .id = "probe_previous",
      .name = translatable("head_scores.previous_probe", "previous, probe"),
      .formula = translatable("head_scores.s_random_tokens_said",
                              "on S random tokens, repeated once: mean of A[i, i-1] over rows i ≥ 1"),
      .source = untranslated("Elhage et al. 2021, Olsson et al. 2022"),
      .unit = weight_unit,
      .positions = true,
      .of = ScoreSource::probe,
      .part = on_previous,
      .acts = at_distance<-1>},
     {.score = HeadScore::probe_duplicate,
      .id = "probe_duplicate",
      .name = translatable("head_scores.duplicate_probe", "duplicate, probe"),
      .formula = translatable("head_scores.s_random_tokens_said_2",
                              "on S random tokens, repeated once: mean of A[i, i-S] over the last S rows"),
      .source = untranslated("Elhage et al. 2021, Olsson et al. 2022"),
      .unit = weight_unit,
      .positions = true,
      .of = ScoreSource::probe,
      .label = {translatable("head_scores.duplicate_token", "duplicate token"),
                translatable("head_scores.weight_same_token_earlier", "weight on an earlier copy"), 'D', half,
                6},
      .part = on_first_saying,
      .acts = a_same_one},
     {.score = HeadScore::probe_induction,
      .id = "probe_induction",
      .name = translatable("head_scores.induction_probe", "induction, probe"),
      .formula = translatable("head_scores.s_random_tokens_said_3",
                              "on S random tokens, repeated once: mean of A[i, i-S+1] over the last S rows"),
      .source = untranslated("Elhage et al. 2021, Olsson et al. 2022"),
      .unit = weight_unit,
      .positions = true,
      .of = ScoreSource::probe,
      .label = {translatable("common.induction", "induction"),
                translatable("head_scores.weight_followed_same_token",
                             "weight on the token after an earlier copy"),
                'I', half, 5},
      .part = after_first_saying,
      .acts = one_that_followed},
     {.score = HeadScore::copying,
      .id = "copying",
      .name = translatable("head_scores.ov_copying", "OV copying"),
      .formula = translatable("head_scores.sum_re_lambda_over",
                              "sum of Re(lambda) over sum of |lambda|, lambda the eigenvalues of W_E W_V W_O "
                              "W_U, without norms; 1 copies what it reads, -1 suppresses it"),
      .source = untranslated("Elhage et al. 2021"),
      .unit = weight_unit,
      .positions = false,
      .of = ScoreSource::model},
     {.score = HeadScore::effect,
      .id = "effect",
      .name = translatable("head_scores.ablation_effect", "ablation effect"),
      .formula = translatable("head_scores.kl_before_after_predicted",
                              "KL(before || after) of the next-token distribution under zero ablation of "
                              "this head alone, in nats"),
      .source = translatable("head_scores.place_michel_et_al", "in place of Michel et al. 2019"),
      .unit = divergence,
      .positions = false,
      .of = ScoreSource::further_runs},
     {.score = HeadScore::retrieval,
      .id = "retrieval",
      .name = translatable("head_scores.retrieval", "retrieval"),
      .formula = translatable("head_scores.needle_haystack_different",
                              "for a needle in a haystack: distinct needle tokens that the model writes "
                              "while the head's largest weight is on the same token in the needle, over all "
                              "distinct needle tokens; mean over positions of the needle"),
      .source = untranslated("Wu et al. 2024"),
      .unit = weight_unit,
      .positions = false,
      .of = ScoreSource::needles},
     {.score = HeadScore::parameter_change,
      .id = "parameter_change",
      .name = translatable("head_scores.parameter_change", "parameter change"),
      .formula = translatable("head_scores.parameter_change_formula",
                              "Frobenius norm of B − A over that of A, of the head's W_Q, W_K, W_V and W_O "
                              "together; A is the checkpoint without edits"),
      .source = {},
      .unit = change,
      .positions = false,
      .of = ScoreSource::comparison},
     {.score = HeadScore::attention_change,
      .id = "attention_change",
      .name = translatable("head_scores.attention_change", "attention change"),
      .formula = translatable("head_scores.attention_change_formula",
                              "mean of |B − A| over all attention weights of the head on this text; A is the "
                              "checkpoint without edits"),
      .source = {},
      .unit = change,
      .positions = false,
      .of = ScoreSource::comparison}}};
static_assert([] {
    for (std::size_t s = 0; s < table.size(); ++s)
        if (table[s].score != static_cast<HeadScore>(s) || table[s].id.empty())
            return false;
    return true;
}());

} // namespace

const std::array<HeadScoreInfo, head_score_count>& head_scores() {
    return table;
}

const HeadScoreInfo& info_of(HeadScore score) {
    return table[static_cast<std::size_t>(score)];
}

const HeadScoreInfo* find_head_score(std::string_view id) {
    const auto row = std::ranges::find(table, id, &HeadScoreInfo::id);
    return row == table.end() ? nullptr : &*row;
}

bool score_applies(HeadScore score, std::int64_t Tq, std::int64_t Tk, bool same_tokens) {
    return !info_of(score).positions || (same_tokens && Tq == Tk && Tq >= 2);
}

double largest_score(HeadScore score, std::int64_t Tk) {
    return info_of(score).unit.largest(Tk);
}

bool is_of_one_run(const HeadScoreInfo& info) {
    return info.of != ScoreSource::probe && info.of != ScoreSource::model &&
           info.of != ScoreSource::comparison && !is_asked_for(info);
}

bool is_asked_for(const HeadScoreInfo& info) {
    return info.of == ScoreSource::further_runs || info.of == ScoreSource::needles;
}

} // namespace headscope::analysis
