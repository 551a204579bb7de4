#include "text/jinja/numbers.h"

#include "text/jinja/template_error.h"
#include "text/jinja/unicode.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace lagoon::jinja {
namespace {

size_t bits_of(const mpz_class& value) { return mpz_sizeinbase(value.get_mpz_t(), 2); }

/// The double nearest to numerator / denominator, halves to even. @pre denominator != 0
double nearest_quotient(const mpz_class& numerator, const mpz_class& denominator) {
  if (numerator == 0) return 0;
  mpz_class top = abs(numerator);
  mpz_class bottom = abs(denominator);
  // Scale so that the integer quotient has at least 64 bits; a rest makes it odd, which rounds as the full value would.
  const auto shift = static_cast<int64_t>(bits_of(bottom)) - static_cast<int64_t>(bits_of(top)) + 66;
  if (shift > 0) top <<= static_cast<mp_bitcnt_t>(shift);
  if (shift < 0) bottom <<= static_cast<mp_bitcnt_t>(-shift);
  mpz_class quotient;
  mpz_class rest;
  mpz_tdiv_qr(quotient.get_mpz_t(), rest.get_mpz_t(), top.get_mpz_t(), bottom.get_mpz_t());
  const auto extra = static_cast<int64_t>(bits_of(quotient)) - 62;
  mpz_class head = quotient >> static_cast<mp_bitcnt_t>(extra);
  const mpz_class back = head << static_cast<mp_bitcnt_t>(extra);
  auto bits = static_cast<int64_t>(head.get_si());
  if (rest != 0 || back != quotient) bits |= 1;
  const double magnitude = std::ldexp(static_cast<double>(bits), static_cast<int>(extra - shift));
  if (std::isinf(magnitude)) raise("OverflowError", "int too large to convert to float");
  return sgn(numerator) * sgn(denominator) < 0 ? -magnitude : magnitude;
}

Value power_of_integers(const Value& left, const Value& right, Budget& budget) {
  const mpz_class base = left.as_mpz();
  const mpz_class exponent = right.as_mpz();
  if (exponent < 0) {
    if (base == 0) raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
    return Value::real(std::pow(to_real(left), to_real(right)));
  }
  if (abs(base) > 1) budget.integer(exponent.fits_ulong_p() ? saturated_product(bits_of(base) - 1, exponent.get_ui()) : SIZE_MAX);
  if (abs(base) <= 1) {
    const bool odd = mpz_odd_p(exponent.get_mpz_t()) != 0;
    return Value::integer(mpz_class(exponent == 0 ? 1 : base == -1 && !odd ? 1 : base));
  }
  mpz_class result;
  mpz_pow_ui(result.get_mpz_t(), base.get_mpz_t(), exponent.get_ui());
  return Value::integer(result);
}

std::optional<Value> small_arithmetic(BinaryOperator operation, int64_t left, int64_t right) {
  int64_t result = 0;
  switch (operation) {
    case BinaryOperator::add:
      if (!__builtin_add_overflow(left, right, &result)) return Value::integer(result);
      return std::nullopt;
    case BinaryOperator::sub:
      if (!__builtin_sub_overflow(left, right, &result)) return Value::integer(result);
      return std::nullopt;
    case BinaryOperator::mul:
      if (!__builtin_mul_overflow(left, right, &result)) return Value::integer(result);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

Value integer_arithmetic(BinaryOperator operation, const Value& left, const Value& right, Budget& budget) {
  const auto a_small = left.as_small();
  const auto b_small = right.as_small();
  if (a_small && b_small) {
    if (const auto result = small_arithmetic(operation, *a_small, *b_small)) return *result;
  }
  budget.step((left.own_bytes() + right.own_bytes()) / 16);
  if (operation == BinaryOperator::pow) return power_of_integers(left, right, budget);
  const mpz_class a = left.as_mpz();
  const mpz_class b = right.as_mpz();
  mpz_class result;
  switch (operation) {
    case BinaryOperator::add:
      result = a + b;
      break;
    case BinaryOperator::sub:
      result = a - b;
      break;
    case BinaryOperator::mul:
      budget.integer(bits_of(a) + bits_of(b));
      result = a * b;
      break;
    case BinaryOperator::div:
      if (b == 0) raise("ZeroDivisionError", "division by zero");
      return Value::real(a == 0 && b < 0 ? -0.0 : nearest_quotient(a, b));
    case BinaryOperator::floordiv:
      if (b == 0) raise("ZeroDivisionError", "integer division or modulo by zero");
      mpz_fdiv_q(result.get_mpz_t(), a.get_mpz_t(), b.get_mpz_t());
      break;
    default:
      if (b == 0) raise("ZeroDivisionError", "integer modulo by zero");
      mpz_fdiv_r(result.get_mpz_t(), a.get_mpz_t(), b.get_mpz_t());
      break;
  }
  budget.integer(bits_of(result));
  return Value::integer(result);
}

/// Python's float_divmod: the rest has the sign of the divisor.
std::pair<double, double> divide_real(double a, double b) {
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0) {
    if ((b < 0) != (rest < 0)) {
      rest += b;
      quotient -= 1;
    }
  } else {
    rest = std::copysign(0.0, b);
  }
  if (quotient == 0) return {std::copysign(0.0, a / b), rest};
  double whole = std::floor(quotient);
  if (quotient - whole > 0.5) whole += 1;
  return {whole, rest};
}

double power_of_reals(double a, double b) {
  if (a == 0 && b < 0) raise("ZeroDivisionError", "0.0 cannot be raised to a negative power");
  const double result = std::pow(a, b);
  if (std::isnan(result) && a < 0 && std::isfinite(a) && std::isfinite(b)) raise("ValueError", "a complex number as a result is not supported");
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) raise("OverflowError", "(34, 'Numerical result out of range')");
  return result;
}

double real_arithmetic(BinaryOperator operation, double a, double b) {
  switch (operation) {
    case BinaryOperator::add:
      return a + b;
    case BinaryOperator::sub:
      return a - b;
    case BinaryOperator::mul:
      return a * b;
    case BinaryOperator::div:
      if (b == 0) raise("ZeroDivisionError", "float division by zero");
      return a / b;
    case BinaryOperator::floordiv:
      if (b == 0) raise("ZeroDivisionError", "float floor division by zero");
      return divide_real(a, b).first;
    case BinaryOperator::mod:
      if (b == 0) raise("ZeroDivisionError", "float modulo");
      return divide_real(a, b).second;
    case BinaryOperator::pow:
      return power_of_reals(a, b);
  }
  return 0;
}

/// The text without white space around it and with the digits of every script as ASCII; empty where an underscore is wrong.
std::string plain_number(std::string_view text) {
  std::string out;
  char before = '\0';
  size_t end = text.size();
  size_t at = 0;
  while (at < end && is_space(character_at(text, at).code)) at += character_at(text, at).length;
  for (; at < end; at += character_at(text, at).length) {
    const char32_t code = character_at(text, at).code;
    if (is_space(code)) {
      size_t rest = at;
      while (rest < end && is_space(character_at(text, rest).code)) rest += character_at(text, rest).length;
      if (rest < end) return {};
      break;
    }
    const int digit = decimal_value(code);
    const char byte = digit >= 0 ? static_cast<char>('0' + digit) : code < 0x80 ? static_cast<char>(code) : '?';
    if (byte == '_') {
      if (std::isalnum(static_cast<unsigned char>(before)) == 0) return {};
    } else {
      if (before == '_' && std::isalnum(static_cast<unsigned char>(byte)) == 0) return {};
      out += byte;
    }
    before = byte;
  }
  return before == '_' ? std::string() : out;
}

}  // namespace

Value arithmetic(BinaryOperator operation, const Value& left, const Value& right, Budget& budget) {
  if (left.is_integer() && right.is_integer()) return integer_arithmetic(operation, left, right, budget);
  return Value::real(real_arithmetic(operation, to_real(left), to_real(right)));
}

Value negated(const Value& number) {
  if (number.is_real()) return Value::real(-number.as_real());
  return Value::integer(mpz_class(-number.as_mpz()));
}

double to_real(const Value& number) {
  if (number.is_real()) return number.as_real();
  if (const auto small = number.as_small()) return static_cast<double>(*small);
  return nearest_quotient(number.as_mpz(), 1);
}

std::optional<int> compare_numbers(const Value& left, const Value& right) {
  if (left.is_integer() && right.is_integer()) {
    const auto a = left.as_small();
    const auto b = right.as_small();
    if (a && b) return *a < *b ? -1 : *a > *b ? 1 : 0;
    const int order = cmp(left.as_mpz(), right.as_mpz());
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  if (left.is_real() && right.is_real()) {
    const double a = left.as_real();
    const double b = right.as_real();
    if (std::isnan(a) || std::isnan(b)) return std::nullopt;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  const double real = left.is_real() ? left.as_real() : right.as_real();
  if (std::isnan(real)) return std::nullopt;
  const int order = mpz_cmp_d((left.is_real() ? right : left).as_mpz().get_mpz_t(), real);
  const int sign = order < 0 ? -1 : order > 0 ? 1 : 0;
  return left.is_real() ? -sign : sign;
}

std::optional<mpz_class> parse_integer(std::string_view text, int base) {
  std::string digits = plain_number(text);
  const bool negative = !digits.empty() && digits[0] == '-';
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.erase(0, 1);
  if (digits.size() > 1 && digits[0] == '0') {
    const char marker = static_cast<char>(std::tolower(static_cast<unsigned char>(digits[1])));
    const int marked = marker == 'x' ? 16 : marker == 'o' ? 8 : marker == 'b' ? 2 : 0;
    if (marked != 0 && (base == 0 || base == marked)) {
      digits.erase(0, 2);
      base = marked;
    } else if (base == 0 && digits.find_first_not_of('0') != std::string::npos) {
      return std::nullopt;
    }
  }
  if (base == 0) base = 10;
  if (digits.empty() || std::isalnum(static_cast<unsigned char>(digits[0])) == 0) return std::nullopt;
  const bool power_of_two = base > 0 && (base & (base - 1)) == 0;
  if (digits.size() > 4300 && !power_of_two) return std::nullopt;  // Python's own limit
  mpz_class value;
  if (base < 2 || base > 36 || value.set_str(digits, base) != 0) return std::nullopt;
  return negative ? mpz_class(-value) : value;
}

std::optional<double> parse_real(std::string_view text) {
  std::string plain = plain_number(text);
  const bool negative = !plain.empty() && plain[0] == '-';
  if (!plain.empty() && (plain[0] == '-' || plain[0] == '+')) plain.erase(0, 1);
  if (plain.empty()) return std::nullopt;
  for (char& byte : plain) byte = static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
  double value = 0;
  if (plain == "inf" || plain == "infinity") {
    value = HUGE_VAL;
  } else if (plain == "nan") {
    value = std::nan("");
  } else {
    if (plain.find_first_not_of("0123456789.e+-") != std::string::npos) return std::nullopt;
    char* end = nullptr;
    value = std::strtod(plain.c_str(), &end);
    if (end != plain.c_str() + plain.size() || plain[0] == '-' || plain[0] == '+') return std::nullopt;
  }
  return negative ? -value : value;
}

Value rounded(const Value& number, int64_t digits) {
  if (number.is_integer()) {
    if (digits >= 0) return Value::integer(number.as_mpz());
    if (digits < -4300) return Value::integer(0);
    mpz_class unit;
    mpz_ui_pow_ui(unit.get_mpz_t(), 10, static_cast<unsigned long>(-digits));
    mpz_class quotient;
    mpz_class rest;
    const mpz_class value = number.as_mpz();
    mpz_fdiv_qr(quotient.get_mpz_t(), rest.get_mpz_t(), value.get_mpz_t(), unit.get_mpz_t());
    const mpz_class twice = rest * 2;
    if (twice > unit || (twice == unit && mpz_odd_p(quotient.get_mpz_t()) != 0)) quotient += 1;
    return Value::integer(mpz_class(quotient * unit));
  }
  const double value = number.as_real();
  if (!std::isfinite(value) || digits > 323) return number;
  if (digits < -308) return Value::real(std::copysign(0.0, value));
  // Exact decimal rounding, halves to even, through the C library's correctly rounded printing.
  if (digits >= 0) return Value::real(std::strtod(fmt::format("{:.{}f}", value, static_cast<int>(digits)).c_str(), nullptr));
  const Value whole = truncated(value);
  const mpz_class floor_value = whole.as_mpz();
  const bool inexact = static_cast<double>(floor_value.get_d()) != value;
  mpz_class scaled = floor_value * 2;
  if (inexact) scaled += value > 0 ? 1 : -1;  // breaks ties towards the true value
  mpz_class unit;
  mpz_ui_pow_ui(unit.get_mpz_t(), 10, static_cast<unsigned long>(-digits));
  const Value result = rounded(Value::integer(mpz_class(scaled * 5)), digits - 1);
  return Value::real(std::copysign(nearest_quotient(result.as_mpz(), 10), value));
}

Value truncated(double value) {
  if (std::isnan(value)) raise("ValueError", "cannot convert float NaN to integer");
  if (std::isinf(value)) raise("OverflowError", "cannot convert float infinity to integer");
  return Value::integer(mpz_class(value));
}

}  // namespace lagoon::jinja
