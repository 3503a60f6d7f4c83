#include "app/draw/panels/guide_speaker.h"

#include <numeric>

namespace headscope::app {

using namespace guide;

namespace {

/// "It gives “cat” a weight of 0.84. Only 0.16 is left for the other 3."
std::string reading(const Speaker& s) {
    const std::vector<double> row = s.row(TensorId::weights);
    const auto j = place_of_largest(row);
    const double top = row[static_cast<std::size_t>(j)];
    if (s.nothing_read(s.h))
        return "In " + say_head(s.h) + " the mask leaves " + s.query() +
               " no key to read: its whole row is 0.";
    if (s.dims.Tk == 1)
        return "With one key there is no choice: " + s.query() + " gives it the whole weight, " +
               number(top, 2) + ".";
    const std::string begin = "Read the row of " + s.query() + " in " + say_head(s.h) + ". ";
    if (ties(row) == s.dims.Tk)
        return begin + "It reads all " + n(s.dims.Tk) + " keys alike, " + number(top, 2) + " each.";
    if (ties(row) > 1)
        return begin + "Its largest weight, " + number(top, 2) + ", goes to " + s.key(j) +
               " and, in equal parts, to " + n(ties(row) - 1) + " more.";
    const double rest = std::accumulate(row.begin(), row.end(), 0.0) - top;
    const int decimals = sum_format({top, rest}, top + rest).decimals;
    return begin + "It gives " + s.key(j) + " a weight of " + number(top, decimals) + ". " +
           (rest < top ? "Only " : "") + number(rest, decimals) + " is left for the other" +
           (s.dims.Tk == 2 ? " one." : " " + n(s.dims.Tk - 1) + ".");
}

} // namespace

GuideText say_scores(const Speaker& s) {
    const std::vector<double> row = s.row(TensorId::scores);
    const auto best = place_of_largest(row);
    const auto worst = std::ranges::min_element(row) - row.begin();
    const auto value = [&](std::int64_t j) { return number(row[static_cast<std::size_t>(j)], 2); };
    GuideText out{.heading = "Every query meets every key", .paragraphs = {}, .try_it = {}};
    out.paragraphs.push_back(
        "A score is a dot product: one token’s query times another’s key, over " +
        (s.dims.dk == 1 ? "the 1 column of a head." : "the " + count(s.dims.dk, "column") + " of a head."));
    if (s.dims.Tk == 1)
        out.paragraphs.push_back("There is one key, so " + s.query() + " has one score in " + say_head(s.h) +
                                 ": " + value(0) + ".");
    else if (ties(row) == s.dims.Tk)
        out.paragraphs.push_back("In " + say_head(s.h) + ", " + s.query() +
                                 " has the same score with every key: " + value(0) + ".");
    else
        out.paragraphs.push_back("In " + say_head(s.h) + ", " + s.query() + " scores highest with " +
                                 s.key(best) + (ties(row) > 1 ? " (a tie)" : "") + ", " + value(best) +
                                 ", and lowest with " + s.key(worst) + ", " + value(worst) + ".");
    out.paragraphs.push_back(s.dims.H == 1 ? "The larger the score, the better key and query fit."
                                           : "The larger the score, the better they fit. Each of the " +
                                                 n(s.dims.H) + " heads has its own scores.");
    out.try_it = s.dims.H > 1 ? "Pick another head with the number keys. Does " + s.query() +
                                    " score highest with the same token there?"
                              : "Press the down arrow key to go through the rows one by one.";
    return out;
}

GuideText say_scaled(const Speaker& s) {
    const auto j = place_of_largest(s.row(TensorId::scaled));
    const Index at{s.b, s.h, s.i, j};
    const bool tempered = s.problem.temperature != 1.0F;
    const double from = s.at(TensorId::scores, at), to = s.at(TensorId::scaled, at);
    const double root = std::sqrt(static_cast<double>(s.dims.dk));
    GuideText out{.heading = "Scaling keeps the softmax soft", .paragraphs = {}, .try_it = {}};
    out.paragraphs.push_back(
        "Every score is divided by the root of the head width: √" + n(s.dims.dk) +
        (root == std::floor(root) ? " = " + number(root, 0) : " ≈ " + number(root, 2)) +
        (tempered ? ", and by the temperature " + number(static_cast<double>(s.problem.temperature), 2)
                  : "") +
        ".");
    out.paragraphs.push_back("In " + say_head(s.h) + ", " + number(from, 2) + " becomes " + number(to, 2) +
                             " for " + s.query() + " and " + s.key(j) + ".");
    out.paragraphs.push_back(
        "Wide heads add up more products and reach larger scores. Without the division a "
        "softmax would soon give one token nearly everything.");
    out.try_it = "Choose another H in the toolbar: the heads change their width, and with it the divisor.";
    return out;
}

GuideText say_masked(const Speaker& s) {
    const std::vector<double> row = s.row(TensorId::masked);
    const auto open = std::ranges::count_if(row, [](double v) { return std::isfinite(v); });
    const auto closed = std::ranges::find_if(row, [](double v) { return std::isinf(v); }) - row.begin();
    GuideText out{.heading = "Who may read whom", .paragraphs = {}, .try_it = {}};
    out.paragraphs.push_back(
        "A mask forbids pairs of tokens. Their score becomes −∞, and the softmax turns that "
        "into a weight of exactly 0.");
    if (s.problem.mask.empty())
        out.paragraphs.push_back("No mask is set now: " + s.query() + " may read " +
                                 (s.dims.Tk == 1 ? "the only key" : "all " + count(s.dims.Tk, "key")) +
                                 ", and every score stays as it is.");
    else if (open == 0)
        out.paragraphs.push_back("In " + say_head(s.h) + ", " + s.query() +
                                 " may read no key at all. Its weights and its output are then set to 0.");
    else
        out.paragraphs.push_back("In " + say_head(s.h) + ", " + s.query() + " may read " + n(open) + " of " +
                                 count(s.dims.Tk, "key") +
                                 (open < s.dims.Tk ? "; " + s.key(closed) + " is " +
                                                         (open + 1 == s.dims.Tk ? "" : "the first ") +
                                                         "forbidden" + (open + 1 == s.dims.Tk ? "." : " one.")
                                                   : "."));
    if (std::ranges::any_of(s.problem.mask,
                            [](const MaskRule& r) { return std::holds_alternative<AdditiveMask>(r); }))
        out.paragraphs.push_back("The mask also adds numbers to the scores that stay.");
    out.try_it = s.problem.mask.empty()
                     ? "Choose the causal mask in the toolbar. Which half of each map closes?"
                     : "Choose another mask in the toolbar, and see which cells open or close.";
    return out;
}

GuideText say_weights(const Speaker& s) {
    GuideText out{.heading = s.dims.H == 1 ? "Where does each token look?"
                                           : "Head " + n(s.h) + ": where does each token look?",
                  .paragraphs = {},
                  .try_it =
                      "Press the down arrow key to go through the rows one by one. Where does each token "
                      "look?"};
    out.paragraphs.push_back(
        s.problem.parts().sink
            ? "Each row is one query token. A softmax turns its scores, and the score of the head’s sink, "
              "into "
              "shares that add up to 1. The sink’s share is dropped, so that the weights add up to less."
            : "Each row is one query token. A softmax turns its scores into weights that add up "
              "to 1.");
    out.paragraphs.push_back(reading(s));
    const auto& roles = s.shown.document->head_roles();
    const auto h = static_cast<std::size_t>(s.h);
    const bool measured = s.b == 0 && !s.problem.cross() && h < s.shown.metrics.size() &&
                          s.shown.metrics[h].labelled.has_value();
    if (h < roles.size() && !roles[h].empty())
        out.paragraphs.push_back("This head was built for: " + shortened(roles[h], 40) + ".");
    else if (measured)
        out.paragraphs.push_back("Measured over the sentence, this head mostly reads: " +
                                 std::string(s.shown.metrics[h].label()) + ".");
    else if (s.dims.H > 1)
        out.paragraphs.push_back("The other heads share the tokens, but not the weights.");
    else
        out.paragraphs.push_back("With one head, all that a token looks for must share one row.");
    if (s.dims.H > 1 && !s.nothing_read(s.h))
        out.try_it = "Pick another head with the number keys. Does " + s.query() + " look at the same token?";
    return out;
}

} // namespace headscope::app
