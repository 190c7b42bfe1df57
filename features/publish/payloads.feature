Feature: Payloads
  A payload is one JSON text in UTF-8, or absent. The broker delivers its bytes unchanged.

  @PUBLISH-013 @DELIVERY-054
  Scenario Outline: The JSON text <payload> is accepted
    Given the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" to queue "orders" with payload:
      """
      <payload>
      """
    Then message "m1" is confirmed to the publisher
    And the subscriber receives message "m1" with payload:
      """
      <payload>
      """

    Examples:
      | payload                          |
      | {}                               |
      | []                               |
      | "text"                           |
      | -12.5e+3                         |
      | true                             |
      | false                            |
      | null                             |
      | {"a": 1, "a": 2}                 |
      | 100000000000000000000000000000.1 |
      | "\ud83d"                         |

  @PUBLISH-014 @PUBLISH-019 @PUBLISH-003
  Scenario Outline: <payload> is not a JSON text
    Given the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" to queue "orders" with payload:
      """
      <payload>
      """
    Then message "m1" of the publisher is refused with INVALID_PAYLOAD
    And the subscriber receives no message
    And queue "orders" has 0 waiting messages

    Examples:
      | payload     |
      | hello       |
      | {"a": 1     |
      | {a: 1}      |
      | [1, 2,]     |
      | 01          |
      | NaN         |
      | 'text'      |
      | 1 2         |
      | {} // done  |

  @PUBLISH-015 @PUBLISH-016 @PUBLISH-019
  Scenario Outline: A payload that <fault>
    When the publisher publishes message "m1" to queue "orders" with the payload bytes "<bytes>"
    Then message "m1" of the publisher is refused with INVALID_PAYLOAD
    And queue "orders" does not exist

    Examples:
      | fault                         | bytes          |
      | is not UTF-8                  | 22 c3 28 22    |
      | has an overlong form          | 22 c0 af 22    |
      | has half a surrogate pair     | 22 ed a0 80 22 |
      | begins with a byte order mark | ef bb bf 7b 7d |

  @PUBLISH-018
  Scenario: 64 levels of nesting are accepted
    When the publisher publishes message "m1" to queue "orders" with a payload nested 64 levels deep
    Then message "m1" is confirmed to the publisher

  @PUBLISH-017 @PUBLISH-019
  Scenario: 65 levels of nesting are refused
    When the publisher publishes message "m1" to queue "orders" with a payload nested 65 levels deep
    Then message "m1" of the publisher is refused with INVALID_PAYLOAD
    And queue "orders" does not exist

  @PUBLISH-020 @BODY-007
  Scenario: A message without payload
    Given the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" to queue "orders" without payload
    Then message "m1" is confirmed to the publisher
    And the subscriber receives message "m1" without payload
