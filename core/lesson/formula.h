#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::lesson {

/// A formula as a tree, read from a subset of TeX: words, numbers and signs; ^ and _; braces; \frac{a}{b},
/// \sqrt{a}, \text{words}, \mathrm{words}, \begin{matrix} a & b \\ c & d \end{matrix} (in square brackets),
/// \left( \right); and symbols such as \cdot \times \top \sum \in \infty \leq \geq \neq \approx \to \ldots
/// \alpha.
struct Formula {
    enum class Kind : std::uint8_t {
        row,      ///< adjacent parts
        symbol,   ///< a variable: italic in print, upright here
        text,     ///< upright words, numbers and signs
        scripts,  ///< parts[0] with parts[1] below (may be empty) and parts[2] above (may be empty)
        fraction, ///< parts[0] over parts[1]
        root,     ///< the square root of parts[0]
        matrix,   ///< parts row by row, `columns` in each
        fence     ///< parts[0] between brackets of its height; text holds both brackets
    };
    Kind kind = Kind::row;
    std::string text;
    std::vector<Formula> parts;
    int columns = 0;
};

/// Throws Error(input) with the position, without a file or line.
Formula parse_formula(std::string_view tex);

} // namespace headscope::lesson
