Feature: Queue info
  QueueInfo answers with the options and figures of a queue.

  @QUEUE-021 @CONN-006 @BODY-034 @BODY-035 @BODY-036
  Scenario: The info of a queue
    Given queue "orders" exists
    Then queue "orders" has these properties:
      | name                  | orders |
      | messageCount          | 0      |
      | subscriberCount       | 0      |
      | deliveryMode          | 0      |
      | maxSize               | 10000  |
      | enableDeadLetterQueue | false  |
      | overflowStrategy      | 0      |
      | maxRetryAttempts      | 3      |
      | messageTtl            | absent |
      | deadLetterQueueName   | absent |

  @QUEUE-027 @BODY-041
  Scenario: createdAt is the time of creation
    Given queue "orders" exists
    Then queue "orders" was created just now

  @QUEUE-024
  Scenario: The info of a queue that does not exist is empty
    When the client asks for the info of queue "orders"
    Then the answer is a QueueInfo without payload

  @QUEUE-025 @DELIVERY-002
  Scenario: messageCount counts waiting messages only
    Given the publisher publishes messages "m1 to m5" to queue "orders"
    Then queue "orders" has 5 waiting messages
    When the subscriber subscribes to queue "orders" for at most 2 messages at a time
    Then the subscriber receives messages "m1, m2"
    And queue "orders" has 3 waiting messages
    When the subscriber acknowledges messages "m1, m2"
    Then the subscriber receives messages "m3, m4"
    And queue "orders" has 1 waiting message

  @QUEUE-026 @DELIVERY-069
  Scenario: subscriberCount counts current subscriptions
    Given subscriber A subscribes to queue "orders"
    And subscriber B subscribes to queue "orders"
    Then queue "orders" has 2 subscribers
    When subscriber A unsubscribes from queue "orders"
    Then queue "orders" has 1 subscriber
    When the connection of subscriber B breaks
    Then queue "orders" has 0 subscribers
