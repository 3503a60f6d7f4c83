#include "app/draw/pages/attention_pages.h"
#include "app/draw/panels/guide_speaker.h"
#include "core/attention/graph_of_problem.h"
#include "core/base/message.h"

#include <numeric>

namespace headscope::app {

using namespace guide;

namespace {

/// "It gives “cat” a weight of 0.84. Only 0.16 is left for the other 3."
std::string reading(const GuideContext& s) {
    const std::vector<double> row = s.row(TensorId::weights);
    const auto j = index_of_largest(row);
    const double top = row[static_cast<std::size_t>(j)];
    if (s.is_fully_masked(s.h))
        return tr("guide_texts_scores.head_mask_leaves_no",
                  "In head {} the mask leaves {} no key to read: its whole row is 0.", s.h, s.query());
    if (s.dims.Tk == 1)
        return tr("guide_texts_scores.one_key_no_choice",
                  "With one key there is no choice: {} gives it the whole weight, {}.", s.query(),
                  number(top, 2));
    const std::string begin =
        tr("guide_texts_scores.read_row_head", "Read the row of {} in head {}.", s.query(), s.h) + " ";
    if (ties(row) == s.dims.Tk)
        return begin + tr("guide_texts_scores.reads_all_keys_alike", "It reads all {} keys equally, {} each.",
                          s.dims.Tk, number(top, 2));
    if (ties(row) > 1)
        return begin + tr("guide_texts_scores.largest_weight_goes",
                          "Its largest weight, {}, goes to {} and, with the same value, to {} more.",
                          number(top, 2), s.key(j), ties(row) - 1);
    const double rest = std::accumulate(row.begin(), row.end(), 0.0) - top;
    const int decimals = sum_format({top, rest}, top + rest).decimals;
    const std::int64_t others = s.dims.Tk - 1;
    return begin +
           tr("guide_texts_scores.gives_weight", "It gives {} a weight of {}.", s.key(j),
              number(top, decimals)) +
           " " +
           (rest < top ? tr_n("guide_texts_scores.left_other_one", "Only {} is left for the other one.",
                              "Only {} is left for the other {}.", others, number(rest, decimals), others)
                       : tr_n("guide_texts_scores.left_other_one_2", "{} is left for the other one.",
                              "{} is left for the other {}.", others, number(rest, decimals), others));
}

} // namespace

GuideText say_relative(const GuideContext& s, TensorId term) {
    const std::vector<double> row = s.row(term);
    const auto best = index_of_largest(row);
    const bool of_query = term == TensorId::c2p;
    GuideText out{.heading = of_query ? tr("guide_texts_scores.c2p_heading", "A query asks for a distance")
                                      : tr("guide_texts_scores.p2c_heading", "A key answers to a distance")};
    out.paragraphs.push_back(
        of_query ? tr("guide_texts_scores.c2p_what",
                      "The model has a vector for each distance between two tokens. The query of a token "
                      "times the key of a distance says how much it looks for keys that far away, whatever "
                      "their words are.")
                 : tr("guide_texts_scores.p2c_what",
                      "The model has a vector for each distance between two tokens. The key of a token times "
                      "the query of a distance says how well it serves queries that far away, whatever "
                      "their words are."));
    out.paragraphs.push_back(tr("guide_texts_scores.relative_largest",
                                "In head {}, this term is largest for {} and {}: {}, at a distance of {}.",
                                s.h, s.query(), s.key(best), number(row[static_cast<std::size_t>(best)], 2),
                                s.i - best));
    out.paragraphs.push_back(tr("guide_texts_scores.relative_added",
                                "It is added to the product of query and key, before the division."));
    out.try_it = tr("guide_texts_scores.relative_try",
                    "Compare cells along a diagonal: they have the same distance, and other words.");
    return out;
}

GuideText say_scores(const GuideContext& s) {
    const std::vector<double> row = s.row(TensorId::scores);
    const auto best = index_of_largest(row);
    const auto worst = std::ranges::min_element(row) - row.begin();
    const auto value = [&](std::int64_t j) { return number(row[static_cast<std::size_t>(j)], 2); };
    GuideText out{.heading = tr("guide_texts_scores.every_query_meets", "Every query meets every key")};
    out.paragraphs.push_back(
        tr_n("guide_texts_scores.score_dot_product_one",
             "A score is a dot product: one token’s query with another’s key, over the {} column of a head.",
             "A score is a dot product: one token’s query with another’s key, over the {} columns of a head.",
             s.dims.dk, grouped(s.dims.dk)));
    if (s.problem.relative)
        out.paragraphs.push_back(
            tr("guide_texts_scores.relative_terms",
               "Terms by relative position, of the steps before, are part of the score: {}.",
               s.shown.attention().formula(TensorId::scores)));
    if (s.dims.Tk == 1)
        out.paragraphs.push_back(tr("guide_texts_scores.one_key_one_score",
                                    "There is one key, so {} has one score in head {}: {}.", s.query(), s.h,
                                    value(0)));
    else if (ties(row) == s.dims.Tk)
        out.paragraphs.push_back(tr("guide_texts_scores.head_same_score_every",
                                    "In head {}, {} has the same score with every key: {}.", s.h, s.query(),
                                    value(0)));
    else if (ties(row) > 1)
        out.paragraphs.push_back(tr("guide_texts_scores.head_scores_highest",
                                    "In head {}, {} scores highest with {} (a tie), {}, and lowest with {}, "
                                    "{}.",
                                    s.h, s.query(), s.key(best), value(best), s.key(worst), value(worst)));
    else
        out.paragraphs.push_back(tr("guide_texts_scores.head_scores_highest_2",
                                    "In head {}, {} scores highest with {}, {}, and lowest with {}, {}.", s.h,
                                    s.query(), s.key(best), value(best), s.key(worst), value(worst)));
    out.paragraphs.push_back(
        s.dims.H == 1
            ? tr("guide_texts_scores.larger_score_better",
                 "The larger the score, the better key and query fit.")
            : tr("guide_texts_scores.larger_score_better_2",
                 "The larger the score, the better they fit. Each of the {} heads has its own scores.",
                 s.dims.H));
    out.try_it = s.dims.H > 1 ? tr("guide_texts_scores.pick_another_head",
                                   "Pick another head with the number keys. Does {} score highest with the "
                                   "same token there?",
                                   s.query())
                              : tr("guide_texts_scores.press_down_arrow_key",
                                   "Press the down arrow key to go through the rows one by one.");
    return out;
}

GuideText say_scaled(const GuideContext& s) {
    const auto j = index_of_largest(s.row(TensorId::scaled));
    const Index at{s.b, s.h, s.i, j};
    const bool tempered = s.problem.temperature != 1.0F;
    const double from = s.at(TensorId::scores, at), to = s.at(TensorId::scaled, at);
    const double root = std::sqrt(static_cast<double>(s.dims.dk));
    const std::string divisor =
        fmt::format("√{}", s.dims.dk) +
        (root == std::floor(root) ? " = " + number(root, 0) : " ≈ " + number(root, 2));
    GuideText out{.heading =
                      tr("guide_texts_scores.scaling_keeps_softmax", "Scaling keeps the softmax soft")};
    out.paragraphs.push_back(tempered ? tr("guide_texts_scores.every_score_divided",
                                           "Every score is divided by the square root of the head width, {}, "
                                           "and by the temperature {}.",
                                           divisor, number(static_cast<double>(s.problem.temperature), 2))
                                      : tr("guide_texts_scores.every_score_divided_2",
                                           "Every score is divided by the square root of the head width: {}.",
                                           divisor));
    // Translators: a score and what it becomes for a query and a key: In head 2, 3.14 becomes 1.57 for “it”
    // and “cat”.
    out.paragraphs.push_back(tr("guide_texts_scores.head_becomes", "In head {}, {} becomes {} for {} and {}.",
                                s.h, number(from, 2), number(to, 2), s.query(), s.key(j)));
    out.paragraphs.push_back(
        tr("guide_texts_scores.wide_heads_add_up",
           "Wide heads add up more products and reach larger scores. Without the division a "
           "softmax would soon give one token nearly everything."));
    out.try_it =
        tr("guide_texts_scores.choose_another_h",
           "Choose another H in the toolbar: the heads change their width, and with it the divisor.");
    return out;
}

GuideText say_masked(const GuideContext& s) {
    const std::vector<double> row = s.row(TensorId::masked);
    const auto open = std::ranges::count_if(row, [](double v) { return std::isfinite(v); });
    const auto closed = std::ranges::find_if(row, [](double v) { return std::isinf(v); }) - row.begin();
    GuideText out{.heading = tr("guide_texts_scores.may_read_whom", "Which token may read which")};
    out.paragraphs.push_back(
        tr("guide_texts_scores.mask_forbids_pairs",
           "A mask forbids pairs of tokens. Their score becomes −∞, and the softmax turns that "
           "into a weight of exactly 0."));
    const std::string keys = grouped(s.dims.Tk);
    if (s.problem.mask.empty())
        out.paragraphs.push_back(
            tr_n("guide_texts_scores.no_mask_set_now",
                 "No mask is set now: {} may read the only key, and every score stays as it is.",
                 "No mask is set now: {} may read all {} keys, and every score stays as it is.", s.dims.Tk,
                 s.query(), keys));
    else if (open == 0)
        out.paragraphs.push_back(
            tr("guide_texts_scores.head_may_read_no",
               "In head {}, {} may read no key at all. Its weights and its output are then set to 0.", s.h,
               s.query()));
    else if (open == s.dims.Tk)
        out.paragraphs.push_back(
            tr_n("guide_texts_scores.head_may_read_key", "In head {}, {} may read {} of {} key.",
                 "In head {}, {} may read {} of {} keys.", s.dims.Tk, s.h, s.query(), open, keys));
    else if (open + 1 == s.dims.Tk)
        out.paragraphs.push_back(tr("guide_texts_scores.head_may_read_keys",
                                    "In head {}, {} may read {} of {} keys; {} is forbidden.", s.h, s.query(),
                                    open, keys, s.key(closed)));
    else
        out.paragraphs.push_back(tr("guide_texts_scores.head_may_read_keys_2",
                                    "In head {}, {} may read {} of {} keys; {} is the first forbidden one.",
                                    s.h, s.query(), open, keys, s.key(closed)));
    if (has_rule<AdditiveMask>(s.problem.mask))
        out.paragraphs.push_back(tr("guide_texts_scores.mask_also_adds",
                                    "The mask also adds numbers to the scores of the allowed keys."));
    out.try_it =
        s.problem.mask.empty()
            ? tr("guide_texts_scores.choose_causal_mask",
                 "Choose the causal mask in the toolbar. Which half of each map is then forbidden?")
            : tr("guide_texts_scores.choose_another_mask",
                 "Choose another mask in the toolbar, and see which cells become allowed or forbidden.");
    return out;
}

GuideText say_weights(const GuideContext& s) {
    GuideText out{
        .heading = s.dims.H == 1 ? tr("guide_texts_scores.each_token_look", "Where does each token look?")
                                 : tr("guide_texts_scores.head_each_token_look",
                                      "Head {}: where does each token look?", s.h),
        .try_it = tr("guide_texts_scores.press_down_arrow_ke_2",
                     "Press the down arrow key to go through the rows one by one. Where does each token "
                     "look?")};
    out.paragraphs.push_back(
        s.problem.parts().sink
            ? tr("guide_texts_scores.each_row_one_query",
                 "Each row is one query token. A softmax turns its scores, and the score of the head’s sink, "
                 "into probabilities that add up to 1. The sink’s probability is dropped, so the weights add "
                 "up to less.")
            : tr("guide_texts_scores.each_row_one_query_2",
                 "Each row is one query token. A softmax turns its scores into weights that add up to 1."));
    out.paragraphs.push_back(reading(s));
    const auto& roles = s.shown.document->head_roles();
    const auto h = static_cast<std::size_t>(s.h);
    const bool measured = s.b == 0 && !s.problem.cross() && h < s.shown.metrics.size() &&
                          s.shown.metrics[h].labelled.has_value();
    if (h < roles.size() && !roles[h].empty())
        out.paragraphs.push_back(
            tr("guide_texts_scores.head_built", "This head was built for: {}.", shortened(roles[h], 40)));
    else if (measured)
        out.paragraphs.push_back(tr("guide_texts_scores.measured_over",
                                    "Measured over the sentence, this head mostly reads: {}.",
                                    label_words(s.shown.metrics[h])));
    else if (s.dims.H > 1)
        out.paragraphs.push_back(tr("guide_texts_scores.other_heads_share",
                                    "The other heads read the same tokens with other weights."));
    else
        out.paragraphs.push_back(
            tr("guide_texts_scores.one_head_all_token",
               "With one head, everything that a token looks for has to fit in one row."));
    if (s.dims.H > 1 && !s.is_fully_masked(s.h))
        out.try_it = tr("guide_texts_scores.pick_another_head_2",
                        "Pick another head with the number keys. Does {} look at the same token?", s.query());
    return out;
}

} // namespace headscope::app
