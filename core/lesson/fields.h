#pragma once

#include "core/lesson/parse.h"

#include <yaml-cpp/yaml.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headscope::lesson {

/// The entries of a YAML map, each asked for by its name; what is missing, of the wrong kind or unknown
/// becomes a fault with its line. Only for sources: it shows the YAML library.
class Fields {
public:
    /// `what` names the map in messages: "the gate".
    Fields(YAML::Node map, std::string what, int first_line, std::vector<LessonFault>& faults);
    /// Reads the text first; a text that is no map is a fault, and the fields are then empty.
    static Fields parse(std::string_view text, const std::string& what, int first_line,
                        std::vector<LessonFault>& faults);

    std::optional<std::string> text(const std::string& key);
    std::string needed_text(const std::string& key);
    std::optional<double> number(const std::string& key);
    std::optional<std::int64_t> whole(const std::string& key);
    std::optional<bool> flag(const std::string& key);
    /// One of some words.
    std::optional<std::string> word(const std::string& key, const std::vector<std::string>& choices);
    /// A list of texts; one text alone is a list of one.
    std::vector<std::string> texts(const std::string& key);
    /// A list of whole numbers; one alone is a list of one.
    std::vector<std::int64_t> wholes(const std::string& key);
    /// A map inside; empty fields when there is none.
    std::optional<Fields> map(const std::string& key);
    /// The maps of a list.
    std::vector<Fields> maps(const std::string& key);
    /// The pairs of a map whose names are free.
    std::vector<std::pair<std::string, double>> numbers_by_name(const std::string& key);

    /// Calls with a text and turns what it throws into a fault at the entry's line.
    void use(const std::string& key, const std::function<void(const std::string&)>& call);
    void use_all(const std::string& key, const std::function<void(const std::string&)>& call);

    int line(const std::string& key) const;
    int line() const { return first_line_ + own_line_; }
    void fault(const std::string& key, const std::string& sentence);
    /// Says which entries nobody asked for. Call last.
    void refuse_others();

private:
    YAML::Node entry(const std::string& key);

    YAML::Node map_;
    std::string what_;
    int first_line_ = 0, own_line_ = 0;
    std::vector<LessonFault>* faults_;
    std::set<std::string> asked_;
};

} // namespace headscope::lesson
