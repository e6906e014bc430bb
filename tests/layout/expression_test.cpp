// The language of `tessera layout eval`: values, errors with their position, and hostile text.
#include "tessera/layout/expression.hpp"

#include <gmock/gmock.h>

#include <random>

#include "layout/parse.hpp"
#include "layout/support.hpp"

namespace tessera {
namespace {

using namespace testing_layouts;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string eval(std::string_view text) { return to_string(eval_expression(text)); }

// Over 60 lines: a table, one case or field a line.
TEST(Expression, PublishedVectors) {
  const std::pair<const char*, const char*> kVectors[] = {
      {"row_major(2,3)", "(2,3):(3,1)"},
      {"row_major(2,6)", "(2,6):(6,1)"},
      {"row_major(2,(3,4))", "(2,(3,4)):(12,(4,1))"},
      {"col_major(4,8)", "(4,8):(1,4)"},
      {"row_major(4)", "4:1"},
      {"coalesce((2,8):(4,8))", "16:4"},
      {"coalesce((2,8):(4,8),(1,1))", "(2,8):(4,8)"},
      {"coalesce((2,(1,4)):(1,(4,2)))", "8:1"},
      {"composition(row_major(8,4),<4:1,2:1>)", "(4,2):(4,1)"},
      {"complement(4:1,24)", "6:4"},
      {"complement(6:4,24)", "4:1"},
      {"complement((4,6):(1,4),24)", "1:0"},
      {"complement(4:2,24)", "(2,3):(1,8)"},
      {"complement((2,4):(1,6),24)", "3:2"},
      {"complement((2,2):(1,6),24)", "(3,2):(2,12)"},
      {"logical_divide((4,2,3):(2,1,8),4:2)", "((2,2),(2,3)):((4,1),(2,8))"},
      {"logical_divide((9,(4,8)):(59,(13,1)),<3:3,(2,4):(1,8)>)",
       "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))"},
      {"logical_product((2,2):(4,1),6:1)", "((2,2),(2,3)):((4,1),(2,8))"},
      {"blocked_product((2,5):(5,1),(3,4):(1,3))", "((2,3),(5,4)):((5,10),(1,30))"},
      {"raked_product((2,5):(5,1),(3,4):(1,3))", "((3,2),(4,5)):((10,5),(30,1))"},
      {"tile_to_shape((2,5):(5,1),(6,20))", "((2,3),(5,4)):((5,10),(1,30))"},
      {"tile_to_shape((2,5):(5,1),(6,20),(1,0))", "((2,3),(5,4)):((5,40),(1,10))"},
      {"zipped_divide(row_major(4,4),2:1)", "(2,(2,4)):(4,(8,1))"},
      {"zipped_divide(row_major(4,4),<2:1,2:1>)", "((2,2),(2,2)):((4,1),(8,2))"},
      {"zipped_divide(((16,64),4):((128,2),2048),((8,4),4))",
       "(((8,4),4),((2,16),1)):(((128,2),2048),((1024,8),0))"},
      {"tiled_divide(row_major(4,4),<2:1,2:1>)", "((2,2),2,2):((4,1),8,2)"},
      {"flat_divide(row_major(4,4),<2:1,2:1>)", "(2,2,2,2):(4,1,8,2)"},
      {"sublayout((2,3,4):(12,4,1),0,2)", "(2,4):(12,1)"},
      {"upcast((4,3):(2,4),2)", "(4,3):(1,2)"},
      {"upcast((4,3):(2,4),4)", "(2,3):(1,1)"},
      {"upcast((8,1024):(1024,1),16)", "(8,64):(64,1)"},
      {"downcast((8,64):(64,1),16)", "(8,1024):(1024,1)"},
      {"shape_div((3,4),6)", "(1,2)"},
      {"swizzle(1,0,4)(18)", "19"},
      {"swizzle(2,0,3)(8)", "9"},
      {"composed((6,2):(8,2),0,(4,3):(3,1))(2,1)", "10"},
      {"right_inverse(row_major(4,8))", "(8,4):(4,1)"},
      {"left_inverse(row_major(4,8))", "(8,4):(4,1)"},
      {"left_inverse((4,8):(1,5))", "(5,8):(1,4)"},
      {"left_inverse((4,2):(1,8))", "(4,2,2):(1,8,4)"},
      {"left_inverse((2,3,4):(0,1,0))", "3:2"},
      {"left_inverse(4:0)", "1:0"},
      // Strides of extents of 1, as CuTe's C++ prints them.
      {"tiled_divide((4,3):(3,1),<1:1>)", "(1,4,3):(3,3,1)"},
      {"composition((4,2,2):(1,4,8),((2,1),4):((8,2),2))", "((2,1),4):((8,2),2)"},
      {"composition((4,8):(8,1),1:4)", "1:1"},
      {"composition((4,8):(8,1),(1,4):(4,8))", "(1,4):(1,2)"},
      {"logical_divide((4,8):(8,1),<1:1,2:1>)", "((1,4),(2,4)):((8,8),(1,2))"},
      {"logical_product((4,8):(8,1),(1,2):(1,1))", "((4,8),(1,2)):((8,1),(32,32))"},
      {"size((2,3):(3,1))", "6"},
      {"cosize((2,3):(10,1))", "13"},
      {"(4,8):(8,1)(1,2)", "10"},
      {"row_major(4,8)(1,2)", "10"},
      {"row_major(4,8)((1,2))", "10"},
      {"row_major(4,8)(5)", "9"},
      {"row_major(2,(3,4))(1,(2,3))", "23"},
      {"row_major(2,(3,4))(1,5)", "21"},
      {"((2,3):(3,1))", "(2,3):(3,1)"},
      {" ( (2 , 2) , (2, 3) ) : ( (4, 1) , (2, 8) ) ", "((2,2),(2,3)):((4,1),(2,8))"},
      {"idx2crd(5,(2,(3,4)))", "(1,(2,0))"},
      {"crd2idx((1,2),row_major(4,8))", "10"},
      {"transpose(row_major(4,8))", "(8,4):(1,8)"},
      {"make_layout(4:1,8:4)", "(4,8):(1,4)"},
      {"make_ordered_layout((2,3),(1,0))", "(2,3):(3,1)"},
      {"row_major(?,8)", "(?,8):(8,1)"},
      {"size(row_major(?,8))", "?"},
      {"composition(composition(row_major(8,8),<4:1,4:1>),(2,2):(1,4))", "(2,2):(8,1)"},
  };
  for (const auto& [text, result] : kVectors) EXPECT_EQ(eval(text), result) << text;
}

TEST(Expression, AMistakeIsPointedAt) {
  struct Mistake {
    const char* text;
    std::size_t column;
    const char* says;
  };
  const Mistake kMistakes[] = {
      {"", 0, "missing"},
      {"compositon(4:1,2:1)", 0, "did you mean composition(a,b)?"},
      {"row_major(4,8", 9, "never closed"},
      {"row_major(4 8)", 12, "',' or ')' is expected"},
      {"complement(4,8)", 11, "a layout is needed here; 4 is a number"},
      {"complement(4:1,(8,8))", 15, "a number is needed here"},
      {"size(4:1,2)", 9, "takes 1 argument"},
      {"size()", 5, "needs 1 argument"},
      {"row_major", 9, "'(' is expected after row_major"},
      {"(4,2):3", 6, "nest differently"},
      {"4:1 x", 4, "nothing more"},
      {"4:1:2", 3, "':' comes once"},
      {"99999999999999999999", 0, "64 bits"},
      {"complement((2,2):(1,1),8)", 0, "(2,2):(1,1)"},
      {"size(composition((4,2):(1,8),3:3))", 5, "composition"},
      {"4:1(1,2)", 3, "wrong number of coordinates for 4:1"},
      {"7(1)", 1, "cannot be called"},
      {"<>", 0, "at least one layout"},
      {"()", 0, "empty tuple"},
      {"(-4):1", 0, "negative"},
      {"swizzle(3,4,1)", 0, "swizzle(3,4,1)"},
      {"row_major(4294967296,4294967296,2)", 0, "64 bits"},
      {"composition(4:1,$)", 16, "expected here"},
  };
  for (const Mistake& m : kMistakes) {
    try {
      const std::string value = eval(m.text);
      ADD_FAILURE() << m.text << " gave " << value;
    } catch (const ExpressionError& error) {
      EXPECT_EQ(error.column(), m.column) << m.text << ": " << error.what();
      EXPECT_THAT(error.what(), HasSubstr(m.says)) << m.text;
      EXPECT_EQ(error.category(), Category::argument);
    }
  }
}

TEST(Expression, ARefusalNamesTheFunctionAndTheText) {
  const auto message = [](auto&& read, const char* text) {
    try {
      read(text);
    } catch (const ExpressionError& error) {
      return std::string(error.what());
    }
    return std::string("was not refused");
  };
  const std::pair<const char*, const char*> kRefused[] = {
      {"logical_divide(row_major(4,4),(3,3):(1,1))",
       "logical_divide of (4,4):(4,1) and (3,3):(1,1): two coordinates of (3,3):(1,1) have one"},
      {"sublayout(row_major(2,3),5)", "sublayout: (2,3):(3,1) has no mode 5"},
      {"zipped_divide(8:1,<2:1,2:1>)", "zipped_divide: tiler <2:1,2:1> has 2 modes but 8:1 has 1"},
      {"upcast(4:3,2)", "upcast: 4:3 has no"},
  };
  for (const auto& [text, says] : kRefused)
    EXPECT_THAT(message(eval_expression, text), StartsWith(says)) << text;
  const char* open = "((2,2),(2,3)):((4,1)";
  EXPECT_EQ(message(parse_layout, open),
            "this bracket is never closed: got '((2,2),(2,3)):((4,1)'");
  EXPECT_THAT(message(parse_tiler, "swizzle(1,0,4)"), HasSubstr("got 'swizzle(1,0,4)'"));
  const std::string many = "(" + std::string(5000, '1') + "\n";
  EXPECT_LT(message(parse_tuple, many.c_str()).size(), 250u);
  EXPECT_THAT(message(parse_tuple, many.c_str()), Not(HasSubstr("\n")));
}

TEST(Expression, TheCaretStandsUnderTheMistake) {
  EXPECT_EQ(caret("size(4)", 5), "size(4)\n     ^");
  EXPECT_EQ(caret("", 0), "\n^");
  EXPECT_EQ(caret("a\tb\nc", 4), "a b c\n    ^");
  EXPECT_EQ(caret("gr\xc3\xb6\xc3\x9f", 4), "gr\xc3\xb6\xc3\x9f\n   ^");
}

TEST(Expression, EveryFunctionInTheHelpExists) {
  const auto functions = expression_functions();
  EXPECT_GE(functions.size(), 30u);
  for (const ExpressionFunction& f : functions) {
    EXPECT_FALSE(f.meaning.empty());
    const std::string name(f.usage.substr(0, f.usage.find('(')));
    if (name == "a") continue;
    try {
      eval(name + "()");
      ADD_FAILURE() << name;
    } catch (const ExpressionError& error) {
      EXPECT_THAT(error.what(), HasSubstr("argument")) << name;
    }
  }
}

TEST(Parse, ReadsWhatIsPrinted) {
  for_all("parse(to_string(x)) == x", [] {
    const Layout a = random_layout(12);
    RC_ASSERT(parse_layout(to_string(a)) == a);
    RC_ASSERT(parse_tuple(to_string(a.shape)) == a.shape);
    const Tiler t = tiler(random_layout(4), random_layout(3), random_layout(3));
    RC_ASSERT(parse_tiler(to_string(t)) == t);
    RC_ASSERT(parse_tiler(to_string(tiler(a))) == tiler(a));
    const int bits = static_cast<int>(pick(0, 4));
    const Swizzle s(bits, static_cast<int>(pick(0, 4)), static_cast<int>(pick(bits, 6)));
    const ComposedLayout c(s, pick(-5, 5), a), d(random_layout(), pick(0, 5), a);
    RC_ASSERT(parse_composed(to_string(c)) == c);
    RC_ASSERT(parse_composed(to_string(d)) == d);
    RC_ASSERT(std::get<Swizzle>(eval_expression(to_string(s))) == s);
  });
}

TEST(Parse, WrongKindsAreRefused) {
  EXPECT_THROW(parse_layout("(4,8)"), ExpressionError);
  EXPECT_THROW(parse_layout("swizzle(1,0,4)"), ExpressionError);
  EXPECT_THROW(parse_tuple("4:1"), ExpressionError);
  EXPECT_THROW(parse_tiler("swizzle(1,0,4)"), ExpressionError);
  EXPECT_THROW(parse_composed("5"), ExpressionError);
  EXPECT_EQ(parse_tiler("(2,4)"), tiler(Layout(2), Layout(4)));
}

/// Either a value whose text evaluates to itself, or an error inside the text.
void expect_value_or_error(const std::string& text) {
  try {
    const std::string value = eval(text);
    EXPECT_EQ(eval(value), value) << "from " << text;
  } catch (const ExpressionError& error) {
    EXPECT_LE(error.column(), text.size()) << text;
    EXPECT_STRNE(error.what(), "");
    caret(text, error.column());
  }
}

TEST(ExpressionFuzz, RandomTextGivesAValueOrAnError) {
  std::mt19937 random(20250101);
  const std::string alphabet = "0123456789(),:<>?- _abcdefghijklmnopqrstuvwxyz";
  for (int round = 0; round < 20000; ++round) {
    std::string text(random() % 40, ' ');
    const bool bytes = round % 4 == 0;
    for (char& c : text)
      c = bytes ? static_cast<char>(random() % 256) : alphabet[random() % alphabet.size()];
    expect_value_or_error(text);
  }
}

TEST(ExpressionFuzz, RandomWordsGiveAValueOrAnError) {
  std::vector<std::string> words = {"(",
                                    ")",
                                    ",",
                                    ":",
                                    "<",
                                    ">",
                                    "?",
                                    "-",
                                    "0",
                                    "1",
                                    "2",
                                    "3",
                                    "4",
                                    "8",
                                    "16",
                                    "24",
                                    "-1",
                                    "-7",
                                    "4:1",
                                    "(2,4):(1,8)",
                                    "(8,8):(8,1)",
                                    "9223372036854775807",
                                    "4611686018427387904",
                                    "1000000000"};
  for (const ExpressionFunction& f : expression_functions())
    words.push_back(std::string(f.usage.substr(0, f.usage.find('('))) + '(');
  std::mt19937 random(20250102);
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (std::size_t n = random() % 16; n-- > 0;) text += words[random() % words.size()];
    expect_value_or_error(text);
  }
}

TEST(ExpressionFuzz, CallsWithRandomArgumentsGiveAValueOrAnError) {
  const char* kArguments[] = {"0",
                              "1",
                              "-1",
                              "2",
                              "3",
                              "4",
                              "24",
                              "?",
                              "(2,4)",
                              "(0,3)",
                              "((2,2),3)",
                              "4:1",
                              "8:0",
                              "0:1",
                              "4:-1",
                              "?:1",
                              "4:?",
                              "(2,4):(1,8)",
                              "(4,2):(2,1)",
                              "(8,8):(8,1)",
                              "(2,2):(1,1)",
                              "(0,4):(4,1)",
                              "((2,2),3):((1,4),2)",
                              "<2:1,4:1>",
                              "<4:1>",
                              "swizzle(2,0,3)",
                              "swizzle(1,0,-1)",
                              "composition(swizzle(2,0,3),(8,8):(8,1))",
                              "composed((6,2):(8,2),1,(4,3):(3,1))",
                              "9223372036854775806",
                              "4611686018427387904:2",
                              "(1000000000,1000000000):(1000000000,1)",
                              "2:9223372036854775806",
                              "(2,2):(-9223372036854775806,1)"};
  std::mt19937 random(20250103);
  int values = 0;
  for (const ExpressionFunction& f : expression_functions()) {
    const std::string name(f.usage.substr(0, f.usage.find('(')));
    for (int round = 0; round < 1500; ++round) {
      std::string text = (name == "a" ? kArguments[random() % std::size(kArguments)] : name) + "(";
      for (std::size_t n = 1 + random() % 3, i = 0; i < n; ++i)
        text += (i ? "," : "") + std::string(kArguments[random() % std::size(kArguments)]);
      text += ')';
      expect_value_or_error(text);
      try {
        eval(text);
        ++values;
      } catch (const Error&) {
      }
    }
  }
  EXPECT_GT(values, 1000);
}

TEST(ExpressionFuzz, MutatedExpressionsGiveAValueOrAnError) {
  const std::string kSeeds[] = {
      "logical_divide((9,(4,8)):(59,(13,1)),<3:3,(2,4):(1,8)>)",
      "blocked_product((2,5):(5,1),(3,4):(1,3))",
      "tile_to_shape((2,5):(5,1),(6,20),(1,0))",
      "zipped_divide(composition(swizzle(3,2,3),row_major(8,32)),<4:1,8:1>)(1,2)",
      "complement((2,2):(1,6),24)",
      "left_inverse(right_inverse(row_major(4,8)))",
      "composed((6,2):(8,2),0,(4,3):(3,1))(1,2)",
      "row_major(1000000000,1000000000)(7,9)"};
  std::mt19937 random(20250104);
  const std::string alphabet = "0123456789(),:<>?-";
  for (int round = 0; round < 20000; ++round) {
    std::string text = kSeeds[random() % std::size(kSeeds)];
    for (std::size_t n = 1 + random() % 4; n-- > 0;) {
      const std::size_t at = random() % (text.size() + 1);
      const char c = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0: text.insert(at, 1, c); break;
        case 1:
          if (at < text.size()) text.erase(at, 1);
          break;
        default:
          if (at < text.size()) text[at] = c;
      }
    }
    expect_value_or_error(text);
  }
}

TEST(ExpressionFuzz, DeepAndLongTextIsRefusedQuickly) {
  const std::size_t kLong = 1000000;
  for (const char* piece : {"(", "<", "size(", "coalesce(", "((", "1,", "(1,", "?", "-", "a"}) {
    std::string text;
    while (text.size() < kLong) text += piece;
    EXPECT_THROW(eval(text), ExpressionError) << piece;
  }
}

}  // namespace
}  // namespace tessera
