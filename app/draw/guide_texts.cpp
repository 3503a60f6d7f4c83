#include "app/draw/guide_texts.h"

#include "app/draw/format.h"
#include "app/draw/inspector_words.h"
#include "app/draw/terms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace headscope {

namespace {

std::string n(std::int64_t i) {
    return std::to_string(i);
}

std::string count(std::int64_t i, const std::string& thing) {
    return n(i) + " " + thing + (i == 1 ? "" : "s");
}

/// "column 3" or "columns 0 to 3".
std::string span(const std::string& thing, std::int64_t first, std::int64_t width) {
    return width == 1 ? thing + " " + n(first) : thing + "s " + n(first) + " to " + n(first + width - 1);
}

/// The row and the head that the text speaks of, and the numbers around them.
struct Speaker {
    const Shown& shown;
    const Problem& problem;
    const Dims& dims;
    std::int64_t b, h, i;

    Speaker(const Shown& s, const ViewState& view)
        : shown(s), problem(s.problem()), dims(s.dims()), b(view.batch), h(view.head),
          i(view.row >= 0 ? std::min(view.row, dims.Tq - 1) : std::min<std::int64_t>(2, dims.Tq - 1)) {}

    std::string query() const { return say_query(problem, i); }
    std::string key(std::int64_t j) const { return say_key(problem, j); }
    double at(TensorId id, const Index& index) const { return static_cast<double>(shown.value({id, index})); }
    /// Row i of one of the stages scores to weights in the head in focus.
    std::vector<double> row(TensorId id) const { return row_of(id, h); }
    std::vector<double> row_of(TensorId id, std::int64_t head) const {
        std::vector<double> out;
        for (std::int64_t j = 0; j < dims.Tk; ++j)
            out.push_back(at(id, {b, head, i, j}));
        return out;
    }
    bool nothing_read(std::int64_t head) const { return fully_masked(*shown.trace, b, head, i); }
    /// The column of the output row with the largest number.
    std::int64_t output_column() const {
        std::int64_t best = 0;
        for (std::int64_t d = 1; d < dims.D; ++d)
            if (std::abs(at(TensorId::output, {b, i, d})) > std::abs(at(TensorId::output, {b, i, best})))
                best = d;
        return best;
    }
};

std::int64_t place_of_largest(const std::vector<double>& row) {
    return std::ranges::max_element(row) - row.begin();
}

/// How many numbers of a row are equal to its largest.
std::int64_t ties(const std::vector<double>& row) {
    return std::ranges::count(row, *std::ranges::max_element(row));
}

GuideText say_x(const Speaker& s) {
    std::vector<double> row;
    for (std::int64_t d = 0; d < s.dims.D; ++d)
        row.push_back(s.at(TensorId::x, {s.b, s.i, d}));
    const std::int64_t d = place_of_largest(row);
    const auto& names = s.shown.document->feature_names;
    const std::string name = names.empty() ? "" : names[static_cast<std::size_t>(d)];
    GuideText out{.heading = "Every token is a row of numbers", .paragraphs = {}, .try_it = {}};
    out.paragraphs.push_back("Attention starts from a matrix with one row per token: here " +
                             count(s.dims.Tq, "row") + " of " + count(s.dims.D, "number") + ".");
    out.paragraphs.push_back("In the row of " + s.query() + " the largest number is " +
                             number(row[static_cast<std::size_t>(d)], 2) +
                             (ties(row) > 1 ? ", first in" : ", in") + " column " + n(d) +
                             (name.empty() ? "." : ", which stands for “" + shortened(name, 24) + "”."));
    out.paragraphs.push_back(s.problem.cross() ? "Keys and values come from a second sequence of " +
                                                     count(s.dims.Tk, "token") + ", x_kv."
                                               : "So far no token knows anything about the others.");
    out.try_it = s.shown.document->recipe.base
                     ? "Point at a number: the inspector tells who reads it."
                     : "Type another sentence at the top and watch the rows change. "
                       "Then press the right arrow key.";
    return out;
}

GuideText say_qkv(const Speaker& s, Projection projection) {
    constexpr std::array<TensorId, 3> stages{TensorId::q, TensorId::k, TensorId::v};
    const TensorId id = stages[static_cast<std::size_t>(projection)];
    const bool queries = id == TensorId::q;
    const std::int64_t row = queries ? s.i : std::min(s.i, s.dims.Tk - 1);
    const std::int64_t column = queries             ? s.h * s.dims.dk
                                : id == TensorId::k ? s.dims.kv_head(s.h) * s.dims.dk
                                                    : s.dims.kv_head(s.h) * s.dims.dv;
    const std::int64_t terms = queries ? s.dims.D : s.dims.Dkv;
    constexpr std::array<TensorId, 3> biases{TensorId::b_Q, TensorId::b_K, TensorId::b_V};
    const bool bias = s.shown.tensor(biases[static_cast<std::size_t>(projection)]) != nullptr;
    const std::string name(tensor_info(id).name);
    GuideText out{.heading = "Query, key and value", .paragraphs = {}, .try_it = {}};
    out.paragraphs.push_back("Each token’s row is multiplied by three matrices. The query says what it looks "
                             "for, the key what it offers, the value what it hands over.");
    out.paragraphs.push_back("For " + (queries ? s.query() : s.key(row)) + ", column " + n(column) + " of " +
                             name + " is " + number(s.at(id, {s.b, row, column}), 2) + ": the sum of " +
                             count(terms, "product") + (bias ? " and a bias." : "."));
    if (s.dims.Hkv != s.dims.H)
        out.paragraphs.push_back("K and V have only " + count(s.dims.Hkv, "head") + " for the " +
                                 count(s.dims.H, "head") + " of Q.");
    out.try_it =
        "Point at a number of the result: its row and column light up, and the inspector adds up the "
        "products.";
    return out;
}

GuideText say_split(const Speaker& s) {
    const Dims& dims = s.dims;
    const std::int64_t head = s.h, column = head * dims.dk;
    GuideText out{.heading = "Splitting only says who owns which column", .paragraphs = {}, .try_it = {}};
    if (dims.H == 1)
        out.paragraphs.push_back("There is one head, so it keeps all " + count(dims.dk, "column") + " of Q.");
    else
        out.paragraphs.push_back("The " + count(dims.H * dims.dk, "column") +
                                 " of Q are dealt out in order: " + span("column", 0, dims.dk) +
                                 " to head 0, " + span("column", dims.dk, dims.dk) + " to head 1" +
                                 (dims.H > 2 ? ", and so on for " + count(dims.H, "head") + "." : "."));
    out.paragraphs.push_back("No number changes on the way: q_heads[" + n(head) + "] of " + s.query() +
                             " begins with " + number(s.at(TensorId::q_heads, {s.b, head, s.i, 0}), 2) +
                             ", which is column " + n(column) + " of q.");
    if (dims.Hkv != dims.H)
        out.paragraphs.push_back("K and V make only " + count(dims.Hkv, "head") + "; each serves " +
                                 count(dims.H / dims.Hkv, "query head") + ".");
    out.try_it = "Press Together, then Apart. Which columns move, and does any number change?";
    return out;
}

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

GuideText say_weights(const Speaker& s) {
    GuideText out{.heading = s.dims.H == 1 ? "Where does each token look?"
                                           : "Head " + n(s.h) + ": where does each token look?",
                  .paragraphs = {},
                  .try_it =
                      "Press the down arrow key to go through the rows one by one. Where does each token "
                      "look?"};
    out.paragraphs.push_back(
        "Each row is one query token. A softmax turns its scores into weights that add up "
        "to 1.");
    out.paragraphs.push_back(reading(s));
    const auto& roles = s.shown.document->head_roles;
    const auto h = static_cast<std::size_t>(s.h);
    const bool measured = s.b == 0 && h < s.shown.metrics.size() && !s.shown.metrics[h].label.empty();
    if (h < roles.size() && !roles[h].empty())
        out.paragraphs.push_back("This head was built for: " + shortened(roles[h], 40) + ".");
    else if (measured)
        out.paragraphs.push_back(
            "Measured over the sentence, this head mostly reads: " + s.shown.metrics[h].label + ".");
    else if (s.dims.H > 1)
        out.paragraphs.push_back("The other heads share the tokens, but not the weights.");
    else
        out.paragraphs.push_back("With one head, all that a token looks for must share one row.");
    if (s.dims.H > 1 && !s.nothing_read(s.h))
        out.try_it = "Pick another head with the number keys. Does " + s.query() + " look at the same token?";
    return out;
}

GuideText say_head_out(const Speaker& s) {
    const std::vector<double> weights = s.row(TensorId::weights);
    const auto j = place_of_largest(weights);
    const double weight = weights[static_cast<std::size_t>(j)];
    const double value = s.at(TensorId::v_heads, {s.b, s.dims.kv_head(s.h), j, 0});
    GuideText out{.heading = "Values, mixed by the weights", .paragraphs = {}, .try_it = {}};
    out.paragraphs.push_back("The weights say how much of each value to take. A head mixes " +
                             count(s.dims.Tk, "row") + " of values into one row of " +
                             count(s.dims.dv, "number") + ".");
    if (s.nothing_read(s.h))
        out.paragraphs.push_back(s.query() + " may read nothing in " + say_head(s.h) +
                                 ", so its row is all 0.");
    else {
        const SumFormat format = step_format({weight, value}, weight * value,
                                             [](const std::vector<double>& v) { return v[0] * v[1]; });
        out.paragraphs.push_back("In " + say_head(s.h) + ", column 0 of " + s.query() + " is " +
                                 number(s.at(TensorId::head_out, {s.b, s.h, s.i, 0}), 2) + ". Of this, " +
                                 s.key(j) + " brings " + number(weight, format.decimals) + " × " +
                                 number(value, format.decimals) + (format.approximate ? " ≈ " : " = ") +
                                 number(weight * value, format.decimals) + ".");
        out.paragraphs.push_back("The nearer one weight is to 1, the nearer the result is to that value.");
    }
    out.try_it = "Point at a number: the inspector lists what each key brings.";
    return out;
}

GuideText say_concat(const Speaker& s) {
    const std::int64_t h = s.h, column = h * s.dims.dv;
    const float gain = s.problem.gain(h);
    GuideText out{.heading = "Side by side again", .paragraphs = {}, .try_it = {}};
    out.paragraphs.push_back(s.dims.H == 1 ? "One head alone fills all " + count(s.dims.dv, "column") + "."
                                           : "The heads’ results are set side by side: " + n(s.dims.H) +
                                                 " × " + n(s.dims.dv) + " = " +
                                                 count(s.dims.H * s.dims.dv, "column") + " per token.");
    out.paragraphs.push_back("For " + s.query() + ", column " + n(column) + " holds " +
                             number(s.at(TensorId::concat, {s.b, s.i, column, 0}), 2) + ": " +
                             (gain == 1.0F ? "the first number of " + say_head(h) + ", unchanged."
                                           : "the first number of " + say_head(h) + " times its gain, " +
                                                 number(static_cast<double>(gain), 2) + "."));
    if (s.dims.H > 1)
        out.paragraphs.push_back(
            "Until here the heads have not met: every column still belongs to one of them.");
    out.try_it = "Press Apart, then Together: the blocks slide, the numbers stay.";
    return out;
}

GuideText say_contributions(const Speaker& s) {
    const std::int64_t d = s.output_column();
    const double own = s.at(TensorId::contributions, {s.b, s.h, s.i, d});
    GuideText out{.heading = "What each head adds", .paragraphs = {}, .try_it = {}};
    out.paragraphs.push_back(
        "W_O has rows for every head: " + span("row", s.h * s.dims.dv, s.dims.dv) + " for head " + n(s.h) +
        ". The head’s result times its rows is its contribution, as wide as the output.");
    std::string numbers =
        "To column " + n(d) + " of " + s.query() + ", head " + n(s.h) + " adds " + number(own, 2);
    if (s.dims.H == 2)
        numbers += " and head " + n(1 - s.h) + " adds " +
                   number(s.at(TensorId::contributions, {s.b, 1 - s.h, s.i, d}), 2);
    else if (s.dims.H > 2) {
        double rest = 0;
        for (std::int64_t h = 0; h < s.dims.H; ++h)
            rest += h == s.h ? 0.0 : s.at(TensorId::contributions, {s.b, h, s.i, d});
        numbers += " and the other " + count(s.dims.H - 1, "head") + " " + number(rest, 2);
    }
    out.paragraphs.push_back(numbers + ".");
    if (s.problem.gain(s.h) == 0.0F)
        out.paragraphs.push_back("Its gain is 0: this head is switched off.");
    else if (s.dims.H > 1 && s.b == 0 && static_cast<std::size_t>(s.h) < s.shown.metrics.size())
        out.paragraphs.push_back(
            "By size, over all tokens, its share is " +
            number(static_cast<double>(s.shown.metrics[static_cast<std::size_t>(s.h)].output_share), 2) +
            " of 1.");
    out.try_it = s.dims.H > 1 ? "Pick another head with the number keys. Which one adds most to this column?"
                              : "Point at a number to see its products.";
    return out;
}

GuideText say_output(const Speaker& s) {
    const std::int64_t d = s.output_column();
    const bool bias = s.problem.weights.b_O != nullptr;
    const bool identity = s.shown.document->recipe.identity_W_O;
    const bool square = s.dims.H * s.dims.dv == s.dims.D;
    GuideText out{.heading = identity ? "W_O switched to the identity" : "W_O lets the heads meet",
                  .paragraphs = {},
                  .try_it = {}};
    out.paragraphs.push_back(identity
                                 ? "Now every output column is one column of concat" +
                                       std::string(bias ? " plus its bias" : "") + ": the heads stay apart."
                                 : "Every output column is concat times a column of W_O" +
                                       std::string(bias ? ", plus a bias" : "") + ". It takes a part from " +
                                       (s.dims.H == 1   ? "the one head."
                                        : s.dims.H == 2 ? "both heads."
                                                        : "all " + n(s.dims.H) + " heads."));
    out.paragraphs.push_back("The largest number for " + s.query() + ", by size, is " +
                             number(s.at(TensorId::output, {s.b, s.i, d}), 2) + ", in column " + n(d) +
                             "; head " + n(s.h) + " has a share of " +
                             number(s.at(TensorId::contributions, {s.b, s.h, s.i, d}), 2) + " in it.");
    out.paragraphs.push_back("This row is what the next layer gets to read.");
    out.try_it = identity ? "Switch W_O back and see the heads mix again."
                 : square && !s.shown.document->recipe.base
                     ? "Switch W_O to the identity: which columns of the "
                       "output does each head fill now?"
                     : "Point at a number: the bar in the inspector shows "
                       "each head’s share.";
    return out;
}

} // namespace

GuideText guide_text(const Shown& shown, const ViewState& view) {
    const Speaker speaker(shown, view);
    switch (view.group) {
    case StageGroup::x:
    case StageGroup::none:
        return say_x(speaker);
    case StageGroup::qkv:
        return say_qkv(speaker, view.projection);
    case StageGroup::split:
        return say_split(speaker);
    case StageGroup::scores:
        return say_scores(speaker);
    case StageGroup::scaled:
        return say_scaled(speaker);
    case StageGroup::masked:
        return say_masked(speaker);
    case StageGroup::weights:
        return say_weights(speaker);
    case StageGroup::head_out:
        return say_head_out(speaker);
    case StageGroup::concat:
        return say_concat(speaker);
    case StageGroup::contributions:
        return say_contributions(speaker);
    case StageGroup::output:
        return say_output(speaker);
    }
    return say_x(speaker);
}

} // namespace headscope
