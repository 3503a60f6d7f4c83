#include "app/cli/render/figure_options.h"

#include "core/base/error.h"

#include <CLI/CLI.hpp>

namespace headscope::cli {

namespace {

/// Sets the size from text such as 180mm. Throws Error(input) for another unit or a number out of range.
void set_size(app::PictureChoice& choice, const std::string& option, const std::string& text,
              std::initializer_list<app::PictureUnit> units) {
    for (const app::PictureUnit unit : units) {
        const std::string_view name = app::unit_name(unit);
        if (!text.ends_with(name))
            continue;
        choice.unit = unit;
        if (app::set_width(choice, text.substr(0, text.size() - name.size())))
            return;
    }
    fail_input(option + " " + text +
               (option == "--width"
                    ? " is not a width from 10mm to 1000mm or from 50px to 16000px; write for "
                      "example 180mm"
                    : " is not a size of text from 3pt to 72pt; write for example 8pt"));
}

} // namespace

void FigureOptions::add_to(CLI::App& command) {
    for (const app::PictureOption& option : app::picture_options()) {
        const std::string flag(option.flag);
        if (command.get_option_no_throw(flag) != nullptr)
            continue;
        std::vector<std::string> names;
        for (const app::PictureOption::Value& value : option.values)
            names.emplace_back(value.name);
        command
            .add_option_function<std::string>(
                flag, [this, flag](const std::string& value) { values_[flag] = value; },
                std::string(option.help))
            ->check(CLI::IsMember(names));
    }
    CLI::Option* const width = command.add_option(
        "--width", width_, "the width of a figure: on paper, such as 180mm, or of a PNG, such as 2000px");
    command
        .add_option("--font-size", font_size_,
                    "the size of most words of a figure on paper, such as 8pt; gives the width")
        ->excludes(width)
        ->excludes("--scale");
    width->excludes("--scale");
}

app::PictureChoice FigureOptions::choice(const std::string& theme, bool size_given,
                                         figure::FigureFormat format) const {
    app::PictureChoice choice{.dark = theme == "dark", .crop = !size_given, .times = 1};
    for (const auto& [flag, text] : values_) {
        const app::PictureOption& option = app::picture_option(flag);
        for (std::size_t n = 0; n < option.values.size(); ++n)
            if (option.values[n].name == text)
                option.set(choice, static_cast<int>(n));
    }
    if (width_)
        set_size(choice, "--width", *width_, {app::PictureUnit::mm, app::PictureUnit::px});
    if (font_size_)
        set_size(choice, "--font-size", *font_size_, {app::PictureUnit::pt});
    if (choice.unit == app::PictureUnit::px && format != figure::FigureFormat::png)
        fail_input("--width " + *width_ + ": only a PNG has pixels; give a width in mm");
    return choice;
}

} // namespace headscope::cli
