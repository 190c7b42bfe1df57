Feature: Publishing
  A publisher sends a message to a queue. After PublishAck the broker is responsible for the message.

  @PUBLISH-001 @CONN-006 @CONN-010
  Scenario: A message is confirmed
    Given the publisher is connected
    When the publisher sends a Publish with id "m1" for queue "orders"
    Then the publisher receives a PublishAck with id "m1" and queue "orders"

  @PUBLISH-002
  Scenario: A confirmed message is in its queue
    When the publisher publishes message "m1" to queue "orders"
    Then message "m1" is confirmed to the publisher
    And queue "orders" has 1 waiting message

  @PUBLISH-004 @DELIVERY-050 @DELIVERY-051 @DELIVERY-053 @DELIVERY-054
  Scenario: A message is delivered as it was published
    Given the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" to queue "orders" with payload:
      """
      { "amount": 12.50,   "items":["tea", "\u0063up"], "note": "schnell, bitte – 日本" }
      """
    Then the subscriber receives message "m1" with payload:
      """
      { "amount": 12.50,   "items":["tea", "\u0063up"], "note": "schnell, bitte – 日本" }
      """

  @DELIVERY-051
  Scenario: A message contains the name of its queue
    Given the subscriber subscribes to queue "orders"
    And the subscriber subscribes to queue "payments"
    When the publisher publishes message "m1" to queue "payments"
    Then the subscriber receives message "m1" of queue "payments"

  @DELIVERY-052
  Scenario: Headers are delivered unchanged
    Given the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" to queue "orders" with headers:
      | correlationId | 4711                 |
      | timestamp     | 2026-02-18T10:30:00Z |
      | priority      | high                 |
      | X-Color       | grün                 |
    Then the subscriber receives message "m1" with exactly these headers:
      | correlationId | 4711                 |
      | timestamp     | 2026-02-18T10:30:00Z |
      | priority      | high                 |
      | X-Color       | grün                 |

  @BODY-019 @DELIVERY-052
  Scenario: Header names are case-sensitive
    Given the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" to queue "orders" with headers:
      | color | red  |
      | Color | blue |
    Then the subscriber receives message "m1" with exactly these headers:
      | color | red  |
      | Color | blue |

  @PUBLISH-010
  Scenario: Messages with the same id in two queues are different messages
    When the publisher publishes message "m1" to queue "orders"
    And the publisher publishes message "m1" to queue "payments"
    Then messages "m1, m1" are confirmed to the publisher
    And queue "orders" has 1 waiting message
    And queue "payments" has 1 waiting message

  @PUBLISH-001 @DELIVERY-050
  Scenario: A client may publish to a queue that it subscribes to
    Given client A subscribes to queue "orders"
    When client A publishes message "m1" to queue "orders"
    Then message "m1" is confirmed to client A
    And client A receives message "m1"
